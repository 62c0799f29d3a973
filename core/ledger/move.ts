import { z } from 'zod'
import type { ErrorCode } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import { ProjectId, type RunId } from '#domain/ids.ts'
import { isEnded, type RunPhase, type RunStatus } from '#domain/run.ts'
import { deactivate } from './deactivate.ts'
import { encodeEvents } from './event-codec.ts'
import { runKeys } from './keys.ts'
import { expectKnownRun } from './refusal.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('move')
const MoveAnswer = z.enum(['moved', 'already', 'refused', 'open'])
export type MoveAnswer = z.infer<typeof MoveAnswer>

export type RunMove = {
  /** It moves only from one of these; without `phase`, from any phase of the status. */
  from: readonly { status: RunStatus; phase?: RunPhase }[]
  to: { status?: RunStatus; phase?: RunPhase }
  /** Names this move: sent again with the same name it is not applied twice. */
  command: string
  set?: {
    snapshotId?: string
    compositionKey?: string
    nodeListKey?: string
    edgeListKey?: string
    rulesKey?: string
    planKey?: string
    /** Hashes of the bundles it is planned with, as JSON. */
    bundles?: string
    nodes?: number
    files?: number
    errorCode?: ErrorCode
    reason?: string
  }
  events: readonly NewEvent[]
}

const fieldNames = {
  snapshotId: 'snapshot',
  compositionKey: 'composition',
  nodeListKey: 'node_list',
  edgeListKey: 'edge_list',
  rulesKey: 'rules',
  planKey: 'plan_summary',
  bundles: 'bundles',
  nodes: 'nodes',
  files: 'files',
  errorCode: 'error',
  reason: 'reason',
} as const

/**
 * Changes a run's status or phase by compare-and-set, with its events, in one step. `refused` when it is in none of the
 * states of `from`, which an ended run never is, and for the end of a run that was told to stop, unless `command` is
 * `stop`. `open`: it cannot end, some of its operations have not. Ending it also takes it off the active runs, and does
 * so again when an earlier try did not get that far. RUN_001 for an unknown run.
 */
export async function move(store: LedgerStore, runId: RunId, change: RunMove): Promise<MoveAnswer> {
  const fields = Object.entries(fieldNames).flatMap(([name, stored]) => {
    const value = new Map<string, string | number>(Object.entries(change.set ?? {})).get(name)
    return value === undefined ? [] : [stored, value]
  })
  const answer = await script(store.redis, runKeys(store.namespace, runId).scripted, [
    change.command,
    change.to.status ?? '',
    change.to.phase ?? '',
    change.from.length,
    ...change.from.flatMap(({ status, phase }) => [status, phase ?? '']),
    fields.length / 2,
    ...fields,
    ...encodeEvents(change.events),
  ])
  const result = MoveAnswer.parse(expectKnownRun(runId, answer))
  const { status } = change.to
  if ((result === 'moved' || result === 'already') && status !== undefined && isEnded(status)) {
    const projectId = ProjectId.parse(await store.redis.hget(runKeys(store.namespace, runId).run, 'project'))
    await deactivate(store, { projectId, runId })
  }
  return result
}
