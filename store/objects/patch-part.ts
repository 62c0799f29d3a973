import { z } from 'zod'
import { ChangeSet } from '#domain/change-set.ts'
import { type ProjectId, type RunId, sha256 } from '#domain/ids.ts'
import type { PartId } from '#domain/patch-note.ts'
import { objectKeys } from './object-keys.ts'
import { type ObjectStore, runRecords } from './object-store.ts'

/** `carried`: changes of earlier runs of the branch that are open in its pull request; they give way to the run's own. */
const PatchPart = z.strictObject({
  v: z.literal(1),
  changeSetIds: z.array(z.string()),
  carried: z.array(ChangeSet).min(1).optional(),
})

export type PatchPart = { changeSetIds: readonly string[]; carried?: readonly ChangeSet[] }
type Place = { projectId: ProjectId; runId: RunId }

function partOf({ changeSetIds, carried = [] }: PatchPart): z.infer<typeof PatchPart> {
  const sorted = carried.toSorted((left, right) => (left.changeSetId < right.changeSetId ? -1 : 1))
  return { v: 1, changeSetIds: [...new Set(changeSetIds)].toSorted(), ...(sorted.length > 0 && { carried: sorted }) }
}

/** Returns the id of these change sets as a part of what was accepted, in whatever order they are given. */
export function partId(part: PatchPart): PartId {
  return sha256(JSON.stringify(partOf(part)))
}

const records = runRecords(objectKeys.patchPart, PatchPart)

/** Stores which change sets are in a part, under its id. */
export function putPart(objects: Pick<ObjectStore, 'put'>, run: Place, part: PatchPart): Promise<PartId> {
  return records.put(objects, run, partOf(part))
}

/** Throws STORE_003 when it is missing or does not have its hash. */
export async function getPart(objects: Pick<ObjectStore, 'get'>, { projectId, runId }: Place, part: PartId) {
  const { changeSetIds, carried = [] } = await records.get(objects, { projectId, runId, hash: part })
  return { changeSetIds, carried }
}
