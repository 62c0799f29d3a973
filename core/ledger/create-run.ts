import type { NewEvent } from '#domain/event.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import { isEnded, RunStatus, runSchema, type RunRequest } from '#domain/run.ts'
import { encodeEvents } from './event-codec.ts'
import { indexKeys, runKeys } from './keys.ts'
import { plainScript, runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const indexScript = plainScript('index-run')
const createScript = runScript('create-run')

export type NewRun = {
  runId: RunId
  projectId: ProjectId
  request: RunRequest
  /** The object that holds what was handed in. */
  uploadKey: string
  traceparent: string | null
  /** `run.accepted`, the run's event 1. */
  acceptedEvent: NewEvent
}

/**
 * Makes the run exist, queued. The index of active runs is written first, so that a crash in between leaves an entry
 * without a run, never a run nobody looks after. Creating it again changes nothing.
 */
export async function createRun(store: LedgerStore, run: NewRun): Promise<void> {
  const index = indexKeys(store.namespace)
  const { runId, projectId, request } = run
  await indexScript(store.redis, [index.active, index.runsOf(projectId)], [`${projectId}/${runId}`, runId])
  const keys = runKeys(store.namespace, runId)
  await createScript(store.redis, keys.scripted, [
    runSchema,
    projectId,
    request.errorPolicy,
    JSON.stringify(request),
    run.uploadKey,
    run.traceparent ?? '',
    ...encodeEvents([run.acceptedEvent]),
  ])
  // An acceptance that broke off and was taken up again later: the entry without a run was removed in between.
  const status = RunStatus.parse(await store.redis.hget(keys.run, 'status'))
  if (!isEnded(status)) await store.redis.zadd(index.active, 'NX', Date.now(), `${projectId}/${runId}`)
}
