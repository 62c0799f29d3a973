import { ownBranchFor } from '#code-hosts/code-host.ts'
import { undefinedOn } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { CommitId } from '#domain/repository-source.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { OpenPull } from '../github/pull-requests.ts'
import type { PullPart } from './choose-parts-of.ts'
import type { PublishingRuns } from './publishing-runs.ts'

export type OpenPullsDeps = {
  ledger: Pick<Ledger, 'getRun' | 'notePublication'>
  publishing: Pick<PublishingRuns, 'look' | 'runOfPull'>
}

/** Leaves out the pull requests that somebody else has opened from a branch of that name. */
export async function ownPulls(
  open: readonly OpenPull[],
  run: Run,
  { publishing }: OpenPullsDeps,
): Promise<OpenPull[]> {
  const repositoryId = run.request.repository?.repository.id ?? 0
  const owners = await Promise.all(open.map(({ number }) => publishing.runOfPull(repositoryId, number)))
  return open.filter((_, at) => owners[at] !== undefined)
}

/** Adds an empty part for each open pull request without one, so that it is looked at again, also where the run has nothing for it. */
export function withOpenPulls(parts: readonly PullPart[], open: readonly OpenPull[], target: string): PullPart[] {
  const covered = new Set(parts.map(({ agent }) => ownBranchFor(target, agent)))
  const others = open.filter(({ branch }) => !covered.has(branch))
  const agentOf = (branch: string) => branch.slice(ownBranchFor(target, '').length)
  const nothing = { changeSetIds: [], own: [], carried: [], left: [], lost: 0 }
  const added = others.map(({ branch }) => {
    return { ...nothing, agent: branch === ownBranchFor(target, null) ? null : agentOf(branch) }
  })
  return [...parts, ...added]
}

/** Returns the run of a later push that has one of these pull requests, or had it. What is accepted here is carried there. */
export async function takenOverBy(
  run: Run,
  pulls: readonly { number: number }[],
  deps: OpenPullsDeps,
): Promise<RunId | undefined> {
  for (const { number } of pulls) {
    const owner = await deps.publishing.runOfPull(run.request.repository?.repository.id ?? 0, number)
    if (owner === undefined || owner <= run.runId) continue
    if (await giveChanges(run, { owner, number }, deps)) return owner
  }
  return undefined
}

async function giveChanges(
  run: Run,
  { owner, number }: { owner: RunId; number: number },
  { publishing, ledger }: OpenPullsDeps,
): Promise<boolean> {
  for (;;) {
    const publication = (await ledger.getRun(owner).catch(undefinedOn('RUN_001')))?.publication ?? null
    const pull = publication?.pulls.find((known) => known.number === number)
    if (publication === null || pull === undefined) return false
    if (pull.carried.some(({ runId }) => runId === run.runId)) break
    const carried = [...pull.carried, { runId: run.runId, changeSetIds: [] }]
    const pulls = publication.pulls.map((known) => (known === pull ? { ...known, carried } : known))
    const next = { ...publication, pulls, isSettled: false }
    if ((await ledger.notePublication(owner, { publication: next })) !== undefined) break
  }
  await publishing.look(owner, Date.now())
  return true
}

/** Returns the heads that the branch was given. At these it has nobody else's work, even if its base is on no branch any more. */
export async function writtenHeads(
  run: Run,
  { branch, number }: { branch: string; number: number | undefined },
  { publishing, ledger }: OpenPullsDeps,
): Promise<CommitId[]> {
  const repositoryId = run.request.repository?.repository.id ?? 0
  const runId = number === undefined ? undefined : await publishing.runOfPull(repositoryId, number)
  const runs = [run.runId, ...(runId === undefined || runId === run.runId ? [] : [runId])]
  const known = await Promise.all(runs.map((id) => ledger.getRun(id).catch(undefinedOn('RUN_001'))))
  const pulls = known.flatMap((holder) => holder?.publication?.pulls ?? [])
  return pulls.flatMap((pull) => (pull.branch === branch ? [pull.head] : []))
}
