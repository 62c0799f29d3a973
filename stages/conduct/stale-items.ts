import type { AgendaState, InboxMessage, ItemId, ItemState } from '#domain/agenda.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import type { Run } from '#domain/run.ts'
import type { Step } from '#store/ledger/conductor-steps.ts'
import { getItemReads } from '#store/objects/item-reads.ts'
import { type ObjectStore, undefinedWhenMissing } from '#store/objects/object-store.ts'
import { approvalFor, waitsForApproval } from './agenda-rules.ts'

/** Has the files that an item reads, where they are known. */
export type ReadFiles = ReadonlyMap<ItemId, ReadonlySet<string>>

/** Finds out what the items read, where a push may have touched it. */
export async function filesOfItems(
  run: Run,
  { counts, inbox }: Step,
  objects: Pick<ObjectStore, 'get'>,
): Promise<ReadFiles> {
  const files = new Map<ItemId, ReadonlySet<string>>()
  if (!inbox.some(({ kind }) => kind === 'pushed')) return files
  for (const [itemId, { reads: hash }] of counts) {
    const list = hash === null ? undefined : await getItemReads(objects, { ...run, hash }).catch(undefinedWhenMissing)
    if (list !== undefined) files.set(itemId, new Set(list.paths))
  }
  return files
}

type Pushed = Extract<InboxMessage, { kind: 'pushed' }>

/** Makes stale what waits for an approval and reads what was pushed. A run that executes is superseded as a whole, not here. */
export function afterPush(state: AgendaState, { paths }: Pushed, files: ReadFiles, now: number): AgendaState {
  if (!waitsForApproval(state)) return state
  const items = state.items.map((item): ItemState => {
    return item.status === 'waiting' && isTouched(item, paths, files) ? { ...item, status: 'stale' } : item
  })
  return { ...state, items, approval: approvalFor({ ...state, items }, now) }
}

/** Uses the paths of an item as what it may read, while nobody has counted its operations. */
function isTouched(
  { item_id: id, where: { paths: globs = [] } }: ItemState,
  paths: readonly string[],
  files: ReadFiles,
): boolean {
  const read = files.get(id)
  if (read !== undefined) return paths.some((path) => read.has(path))
  return globs.length === 0 || paths.some(pathGlobs(globs))
}

/** Tells which items the last push that a step has heard has made stale. */
export function staleIn({ state, inbox }: Step, { items }: AgendaState, origin: EventOrigin): NewEvent[] {
  const stale = items.filter(({ status }, at) => status === 'stale' && state.items[at]?.status !== status)
  const push = inbox.findLast((message) => message.kind === 'pushed')
  if (push === undefined || stale.length === 0) return []
  const data = { item_ids: stale.map(({ item_id: id }) => id), paths: push.paths.slice(0, 100), commit: push.commit }
  return [{ event: 'items.stale', phase: 'execution', origin, data }]
}
