import { z } from 'zod'
import { type ProjectId, type RunId, sha256 } from '#domain/ids.ts'
import type { PartId } from '#domain/patch-note.ts'
import { objectKeys } from './object-keys.ts'
import { getHashedJson, type ObjectStore, putHashedJson } from './object-store.ts'

const PatchPart = z.strictObject({ v: z.literal(1), changeSetIds: z.array(z.string()) })

type Place = { projectId: ProjectId; runId: RunId }

function partOf(changeSetIds: Iterable<string>): z.infer<typeof PatchPart> {
  return { v: 1, changeSetIds: [...new Set(changeSetIds)].toSorted() }
}

/** The id of these change sets as a part of what was accepted, in whatever order they are given. */
export function partId(changeSetIds: Iterable<string>): PartId {
  return sha256(JSON.stringify(partOf(changeSetIds)))
}

/** Stores which change sets are in a part, under its id. The list belongs to the run, and goes with it. */
export function putPart(
  objects: Pick<ObjectStore, 'put'>,
  { projectId, runId }: Place,
  changeSetIds: Iterable<string>,
): Promise<PartId> {
  return putHashedJson(objects, (hash) => objectKeys.patchPart(projectId, runId, hash), partOf(changeSetIds))
}

/** STORE_003 when it is missing or does not have its hash. */
export async function getPart(
  objects: Pick<ObjectStore, 'get'>,
  { projectId, runId }: Place,
  part: PartId,
): Promise<string[]> {
  const key = objectKeys.patchPart(projectId, runId, part)
  return (await getHashedJson(objects, key, part, PatchPart)).changeSetIds
}
