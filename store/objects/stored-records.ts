import { z } from 'zod'
import { AgentBundle } from '#domain/agent-bundle.ts'
import { type CodeFinding, reportedFindings } from '#domain/code-finding.ts'
import type { ProjectId } from '#domain/ids.ts'
import { AttemptRecord, changeSetsOf, ToolRun, UnfinishedAttempt } from './attempt-record.ts'
import { Composition } from './composition.ts'
import { objectKeys } from './object-keys.ts'
import { type ObjectStore, projectRecords, runRecords } from './object-store.ts'

export const { put: putBundle, get: getBundle } = projectRecords(objectKeys.bundle, AgentBundle)
export const { put: putComposition, get: getComposition } = runRecords(objectKeys.composition, Composition)
export const { put: putAttemptRecord, get: getAttemptRecord } = projectRecords(objectKeys.attempt, AttemptRecord)
export const { put: putUnfinishedAttempt, get: getUnfinishedAttempt } = projectRecords(
  objectKeys.attempt,
  UnfinishedAttempt,
)

const { get: getRecordedSets } = projectRecords(
  objectKeys.attempt,
  z.object(AttemptRecord.pick({ changeSet: true, changeSets: true }).shape),
)

/** Returns the change sets of a record, without a look at the conversation that it is mostly made of. */
export async function getChangeSets(objects: Pick<ObjectStore, 'get'>, project: ProjectId, hash: string) {
  return changeSetsOf(await getRecordedSets(objects, project, hash))
}

const { get: getRecordedTools } = projectRecords(
  objectKeys.attempt,
  z.object({ tools: z.array(z.object({ externals: ToolRun.shape.externals })) }),
)

export async function getFindings(objects: ObjectStore, project: ProjectId, hash: string): Promise<CodeFinding[]> {
  const { tools } = await getRecordedTools(objects, project, hash)
  return reportedFindings(tools.flatMap(({ externals }) => externals))
}
