import { z } from 'zod'
import { AgentBundle } from '#domain/agent-bundle.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { type CodeFinding, reportedFindings } from '#domain/code-finding.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import { AttemptRecord, changeSetsOf, ToolRun, UnfinishedAttempt } from './attempt-record.ts'
import { Composition } from './composition.ts'
import { objectKeys } from './object-keys.ts'
import { getHashedJson, type ObjectStore, putHashedJson } from './object-store.ts'
import { Snapshot } from './snapshot.ts'

/** Stores what an attempt did and returns the hash that its outcome refers to. The same record has the same hash. */
export function putAttemptRecord(objects: ObjectStore, project: ProjectId, record: AttemptRecord): Promise<string> {
  return putHashedJson(objects, (hash) => objectKeys.attempt(project, hash), record)
}

/** Throws STORE_003 when it is missing or does not have its hash. */
export function getAttemptRecord(objects: ObjectStore, project: ProjectId, hash: string): Promise<AttemptRecord> {
  return getHashedJson(objects, objectKeys.attempt(project, hash), hash, AttemptRecord)
}

const ChangeSetsOfRecord = z.object(AttemptRecord.pick({ changeSet: true, changeSets: true }).shape)

/** The change sets of a record, without a look at the conversation that it is mostly made of. STORE_003 as above. */
export async function getChangeSets(
  objects: Pick<ObjectStore, 'get'>,
  project: ProjectId,
  hash: string,
): Promise<ChangeSet[]> {
  return changeSetsOf(await getHashedJson(objects, objectKeys.attempt(project, hash), hash, ChangeSetsOfRecord))
}

const ToolsOfRecord = z.object({ tools: z.array(z.object({ externals: ToolRun.shape.externals })) })

/** Returns the findings that the tools of a record have reported. Throws STORE_003 as above. */
export async function getFindings(objects: ObjectStore, project: ProjectId, hash: string): Promise<CodeFinding[]> {
  const { tools } = await getHashedJson(objects, objectKeys.attempt(project, hash), hash, ToolsOfRecord)
  return reportedFindings(tools.flatMap(({ externals }) => externals))
}

/** Stores it under the same prefix as the records of ended attempts. */
export function putUnfinishedAttempt(
  objects: ObjectStore,
  project: ProjectId,
  unfinished: UnfinishedAttempt,
): Promise<string> {
  return putHashedJson(objects, (hash) => objectKeys.attempt(project, hash), unfinished)
}

/** Throws STORE_003 when it is missing or does not have its hash. */
export function getUnfinishedAttempt(
  objects: ObjectStore,
  project: ProjectId,
  hash: string,
): Promise<UnfinishedAttempt> {
  return getHashedJson(objects, objectKeys.attempt(project, hash), hash, UnfinishedAttempt)
}

export function putComposition(objects: ObjectStore, project: ProjectId, composition: Composition): Promise<string> {
  return putHashedJson(objects, (hash) => objectKeys.composition(project, composition.runId, hash), composition)
}

export function getComposition(
  objects: ObjectStore,
  project: ProjectId,
  place: { runId: RunId; hash: string },
): Promise<Composition> {
  return getHashedJson(objects, objectKeys.composition(project, place.runId, place.hash), place.hash, Composition)
}

/** The snapshot's own object, without its folders. */
export function getSnapshot(objects: ObjectStore, project: ProjectId, id: string): Promise<Snapshot> {
  return getHashedJson(objects, objectKeys.snapshot(project, id), id, Snapshot)
}

/** Stores a bundle by value and returns the hash that a plan pins. */
export function putBundle(objects: ObjectStore, project: ProjectId, bundle: AgentBundle): Promise<string> {
  return putHashedJson(objects, (hash) => objectKeys.bundle(project, hash), bundle)
}

export function getBundle(objects: ObjectStore, project: ProjectId, hash: string): Promise<AgentBundle> {
  return getHashedJson(objects, objectKeys.bundle(project, hash), hash, AgentBundle)
}
