import type { Branch, BranchRuns } from '#code-hosts/branch-runs.ts'
import type { Delivery } from '#code-hosts/delivery.ts'
import { undefinedOn } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { CommitId } from '#domain/repository-source.ts'
import { isEnded } from '#domain/run.ts'
import type { RepositoryReads } from '#stages/publish/github/repository-reads.ts'
import { changePublication, type NotedPullsDeps } from '#stages/publish/pulls/noted-pulls.ts'
import type { Ledger } from '#store/ledger/ledger.ts'

export type WaitingRunDeps = NotedPullsDeps & {
  ledger: Pick<Ledger, 'readAgenda' | 'sendToConductor'>
  branchRuns: Pick<BranchRuns, 'find'>
}

const origin = { kind: 'publisher', id: 'github' } as const

/**
 * Tells the run of a branch what a newer commit has changed, while its plan waits for an approval: what reads none of that is still worth approving.
 * When it has ended, the delivery is handled once more. Undefined where the run is to be superseded.
 */
export async function tellWaitingRun(
  of: Branch,
  { commit, objective, delivery }: { commit: CommitId; objective: string | undefined; delivery: Delivery },
  reads: Pick<RepositoryReads, 'changedPaths' | 'mergeBase'>,
  deps: WaitingRunDeps,
): Promise<RunId | undefined> {
  const { runId, commit: planned } = (await deps.branchRuns.find(of))?.current ?? {}
  const run = runId && planned !== commit ? await deps.ledger.getRun(runId).catch(undefinedOn('RUN_001')) : undefined
  if (run === undefined || planned === undefined || isEnded(run.status) || run.request.objective !== objective)
    return undefined
  const { approval } = (await deps.ledger.readAgenda(run.runId))?.state ?? {}
  if (!approval || approval.at !== undefined) return undefined
  // What a forced push has taken away is in no comparison.
  const isOnTop = (await reads.mergeBase(planned, commit)) === planned
  const changed = isOnTop ? await reads.changedPaths(planned, commit) : undefined
  if (changed === undefined) return undefined
  const newer = JSON.stringify(delivery)
  await changePublication(run.runId, (publication) => ({ ...publication, newer }), deps)
  const message = { kind: 'pushed' as const, commit, paths: [...changed] }
  const sent = await deps.ledger.sendToConductor(run.runId, message, { command: `pushed ${commit}`, origin })
  return sent === 'sent' ? run.runId : undefined
}
