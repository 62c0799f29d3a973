import { z } from 'zod'
import { AskId } from '#domain/id-schemas.ts'
import { OperationId, RunId } from '#domain/ids.ts'
import { PartId } from '#domain/patch-note.ts'
import { PatchKind } from '#domain/run.ts'

/** Increased when an older consumer would misread a payload; such a consumer leaves the job to a newer one. */
export const payloadVersion = 1

/** The part that all payloads share: the run, and the trace it belongs to. Jobs carry ids, never data. */
const RunPayload = z.strictObject({ v: z.literal(payloadVersion), run_id: RunId, traceparent: z.string().nullable() })

export const queueNames = [
  'snapshots',
  'discoveries',
  'setups',
  'operations',
  'compositions',
  'patches',
  'publications',
  'conductor',
] as const
export type QueueName = (typeof queueNames)[number]

const payloads = {
  snapshots: RunPayload,
  discoveries: RunPayload,
  setups: RunPayload,
  operations: RunPayload.extend({ operation_id: OperationId, dispatch: z.int().min(1) }),
  compositions: RunPayload,
  patches: RunPayload.extend({ of: PatchKind, part: PartId.optional() }),
  publications: RunPayload,
  /** With `ask_id`, what somebody asks about the run is to be answered; else the next step is to be taken. */
  conductor: RunPayload.extend({ ask_id: AskId.optional() }),
} satisfies Record<QueueName, z.ZodType>
type Payloads = { [Q in QueueName]: z.infer<(typeof payloads)[Q]> }
/** A payload without its version, which the producer adds. */
export type PayloadOf<Q extends QueueName> = Omit<Payloads[Q], 'v'>

export const catalog: { readonly [Q in QueueName]: z.ZodType<Payloads[Q]> } = payloads

const NewerPayload = z.looseObject({ v: z.int().min(payloadVersion + 1) })

export function isNewerPayload(payload: unknown): boolean {
  return NewerPayload.safeParse(payload).success
}

export function askJobId({ runId, askId }: { runId: RunId; askId: AskId }): string {
  return `${runId}-${askId}`
}

/** The job id of a dispatch: adding the same dispatch twice gives one job. */
export function operationJobId(job: { runId: RunId; operationId: OperationId; dispatch: number }): string {
  return `${job.runId}-${job.operationId}-${job.dispatch}`
}
