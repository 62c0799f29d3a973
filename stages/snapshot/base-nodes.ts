import { undefinedOn } from '#domain/error.ts'
import { laterCompositions } from '#domain/patch-note.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { type NodeListRef, openNodeLists } from '#store/objects/node-list.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import type { SnapshotFile } from '#store/objects/snapshot.ts'
import { getComposition } from '#store/objects/stored-records.ts'

export type BaseRunDeps = { ledger: Pick<Ledger, 'getRun'>; objects: Pick<ObjectStore, 'get' | 'getRange'> }

/** The nodes of the run that `run` is compared with; undefined where there is none, or it has been deleted. */
export async function findBaseList(
  { projectId, request }: Pick<Run, 'projectId' | 'request'>,
  { ledger, objects }: BaseRunDeps,
): Promise<NodeListRef | undefined> {
  const base = await findBaseRun({ projectId, request }, ledger)
  if (base === undefined || base.nodeListKey === null) return undefined
  const list = { projectId, runId: base.runId, hash: base.nodeListKey }
  const isThere = await openNodeLists(objects).read(list).catch(undefinedOn('STORE_003'))
  return isThere && list
}

/** So many runs may wait for the next time of a schedule. */
const mostLookedAt = 30

/** Returns what the run that `run` is compared with has composed, of the files of `now` that changed since: where that is merged, it is no change. */
export async function composedFiles(
  run: Pick<Run, 'projectId' | 'request'>,
  now: { find(path: string): SnapshotFile | undefined },
  { ledger, objects }: BaseRunDeps & { objects: ObjectStore },
): Promise<SnapshotFile[][]> {
  const made = await compositionsBefore(run, ledger)
  const known = new Set<string>()
  const groups: SnapshotFile[][] = []
  for (const key of made) {
    const ref = { projectId: run.projectId, ...key }
    const composition = await getComposition(objects, ref).catch(undefinedOn('STORE_003'))
    const files = (composition?.files ?? []).flatMap(({ path, baseHash, resultHash }) => {
      const file = now.find(path)
      const isChanged = resultHash !== null && file !== undefined && file.hash !== baseHash
      return isChanged && !known.has(`${path} ${resultHash}`) ? { ...file, hash: resultHash } : []
    })
    for (const { path, hash: result } of files) known.add(`${path} ${result}`)
    if (files.length > 0) groups.push(files)
  }
  return groups
}

/** Lists those of the newest run that has any: one that publishes nothing yet leaves open what the one before it has proposed. */
async function compositionsBefore(run: Pick<Run, 'projectId' | 'request'>, ledger: BaseRunDeps['ledger']) {
  let base = await findBaseRun(run, ledger)
  for (let lookedAt = 0; base !== undefined && lookedAt < mostLookedAt; lookedAt++) {
    const { runId } = base
    const made = laterCompositions(base).map((hash) => ({ runId, hash }))
    if (made.length > 0) return made
    base = await findBaseRun(base, ledger)
  }
  return []
}

async function findBaseRun(
  { projectId, request }: Pick<Run, 'projectId' | 'request'>,
  ledger: BaseRunDeps['ledger'],
): Promise<Run | undefined> {
  const runId = request.repository?.since?.runId
  if (runId === undefined) return undefined
  const base = await ledger.getRun(runId).catch(undefinedOn('RUN_001', 'RUN_005'))
  return base?.projectId === projectId ? base : undefined
}
