import { z } from 'zod'
import { AgentBundle } from '#domain/agent-bundle.ts'
import type { CodeFinding } from '#domain/code-finding.ts'
import { type ProjectId, type RunId, sha256 } from '#domain/ids.ts'
import { type Report, reportsIn } from '#domain/reports.ts'
import { AttemptRecord, changeSetsOf, ToolRun, UnfinishedAttempt } from './attempt-record.ts'
import { Composition } from './composition.ts'
import { objectKeys } from './object-keys.ts'
import { type ObjectStore, projectRecords, runRecords } from './object-store.ts'
import { RepoPath } from '#domain/repo-path.ts'

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

/** Returns what the attempt has reported, in order. */
export async function getReports(
  objects: Pick<ObjectStore, 'get'>,
  project: ProjectId,
  hash: string,
): Promise<Report[]> {
  const { tools } = await getRecordedTools(objects, project, hash)
  return reportsIn(tools.flatMap(({ externals }) => externals))
}

export async function getFindings(objects: ObjectStore, project: ProjectId, hash: string): Promise<CodeFinding[]> {
  const reports = await getReports(objects, project, hash)
  return reports.flatMap((report) => (report.kind === 'finding' ? report.finding : []))
}

type OfRun = { projectId: ProjectId; runId: RunId }

export async function putArtifact(objects: Pick<ObjectStore, 'put'>, { projectId, runId }: OfRun, content: string) {
  await objects.put(objectKeys.artifact(projectId, runId, sha256(content)), content, { contentType: 'text/plain' })
}

/** STORE_003 when the run has none of this hash. */
export async function getArtifact(objects: Pick<ObjectStore, 'get'>, { projectId, runId }: OfRun, hash: string) {
  return Buffer.from(await objects.get(objectKeys.artifact(projectId, runId, hash))).toString()
}

/** Lists the files that an item of the agenda reads, once its operations are known: what changes in others leaves its plan as it is. */
const ItemReads = z.strictObject({ v: z.literal(1), paths: z.array(RepoPath) })

export const { put: putItemReads, get: getItemReads } = runRecords(objectKeys.itemReads, ItemReads)
