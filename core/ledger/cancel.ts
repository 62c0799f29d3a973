import { z } from 'zod'
import type { ErrorCode } from '#domain/error.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import type { RunPhase } from '#domain/run.ts'
import { runKeys } from './keys.ts'
import { expectKnownRun } from './refusal.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('cancel')
const CancelAnswer = z.enum(['stopping', 'ended', 'elsewhere'])

/** `stopping`: it will end, for the reason that was given first. `ended`: it had ended before. `elsewhere`: it is in none of the phases. */
export type CancelAnswer = z.infer<typeof CancelAnswer>

export type CancelRequest = {
  reason: string
  origin: EventOrigin
  /** With it the run ends as failed under this code, else as cancelled. */
  errorCode?: ErrorCode
  /** Only while it is in one of these. */
  phases?: readonly RunPhase[]
}

/**
 * Stops a run: nothing of it starts any more, and who works on one of its operations is told. The operations that have
 * not started are ended by `endSlice`; who does so then moves the run to its end. RUN_001 for an unknown run.
 */
export async function cancel(store: LedgerStore, runId: RunId, request: CancelRequest): Promise<CancelAnswer> {
  const { reason, origin, errorCode = '', phases = [] } = request
  const keys = runKeys(store.namespace, runId).scripted
  const answer = await script(store.redis, keys, [reason, errorCode, origin.kind, origin.id, ...phases])
  return CancelAnswer.parse(expectKnownRun(runId, answer))
}
