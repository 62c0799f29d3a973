import type { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { EdgeListRef } from '#objects/read-edge-list.ts'
import type { NodeListRef } from '#objects/read-node-list.ts'
import { openKept } from '#platform/kept.ts'

/** What is the same for all operations of a run. */
export type RunFacts = {
  bundles: readonly string[]
  retryOf: RunId | undefined
  rulesKey: Run['rulesKey']
  /** Undefined where the run has stored no edges. */
  lists: { nodes: NodeListRef; edges: EdgeListRef } | undefined
}

const keptRuns = 100

/** A run's facts, asked for once. RUN_001 when there is no such run. */
export function openRunFacts(ledger: Pick<Ledger, 'getRun'>): (runId: RunId) => Promise<RunFacts> {
  const kept = openKept<RunFacts>({ max: keptRuns })
  return (runId) => kept(runId, async () => factsOf(await ledger.getRun(runId)))
}

function factsOf({ runId, projectId, request, nodeListKey, edgeListKey, rulesKey }: Run): RunFacts {
  const { agents: bundles, retryOf } = request
  if (nodeListKey === null || edgeListKey === null) return { bundles, retryOf, rulesKey, lists: undefined }
  const place = { projectId, runId }
  const lists = { nodes: { ...place, hash: nodeListKey }, edges: { ...place, hash: edgeListKey } }
  return { bundles, retryOf, rulesKey, lists }
}
