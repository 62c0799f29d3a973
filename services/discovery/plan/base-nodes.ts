import { undefinedOn } from '#domain/error.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { type NodeListRef, openNodeLists } from '#objects/node-list.ts'
import type { ObjectStore } from '#objects/object-store.ts'

export type BaseRunDeps = { ledger: Pick<Ledger, 'getRun'>; objects: Pick<ObjectStore, 'get' | 'getRange'> }

/** The nodes of the run that `run` is compared with; undefined where there is none, or it has been deleted. */
export async function findBaseList(
  { projectId, request }: Pick<Run, 'projectId' | 'request'>,
  { ledger, objects }: BaseRunDeps,
): Promise<NodeListRef | undefined> {
  const runId = request.repository?.since?.runId
  if (runId === undefined) return undefined
  const base = await ledger.getRun(runId).catch(undefinedOn('RUN_001', 'RUN_005'))
  if (base?.projectId !== projectId || base.nodeListKey === null) return undefined
  const list = { projectId, runId, hash: base.nodeListKey }
  const isThere = await openNodeLists(objects).read(list).catch(undefinedOn('STORE_003'))
  return isThere && list
}
