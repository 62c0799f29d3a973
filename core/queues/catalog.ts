import { z } from 'zod'
import { OperationId, RunId } from '#domain/ids.ts'

/** Raised when an older consumer would misread a payload; it then leaves the job to a newer one. */
export const payloadVersion = 1

/** What every job carries: which run, and the trace it belongs to. Jobs carry ids, never data. */
const RunPayload = z.strictObject({ v: z.literal(payloadVersion), run_id: RunId, traceparent: z.string().nullable() })
type RunPayload = z.infer<typeof RunPayload>

const OperationPayload = RunPayload.extend({ operation_id: OperationId, dispatch: z.int().min(1) })

type Payloads = {
  snapshots: RunPayload
  discoveries: RunPayload
  operations: z.infer<typeof OperationPayload>
  compositions: RunPayload
}
export type QueueName = keyof Payloads
/** What producers give and handlers get; the version is added on the way. */
export type PayloadOf<Q extends QueueName> = Omit<Payloads[Q], 'v'>

/** Every queue and the payload of its jobs, as it goes over the wire. */
export const catalog: { readonly [Q in QueueName]: z.ZodType<Payloads[Q]> } = {
  snapshots: RunPayload,
  discoveries: RunPayload,
  operations: OperationPayload,
  compositions: RunPayload,
}

const NewerPayload = z.looseObject({ v: z.int().min(payloadVersion + 1) })

/** Whether a payload comes from a newer version of this code, whatever else it holds. */
export function isNewerPayload(payload: unknown): boolean {
  return NewerPayload.safeParse(payload).success
}

/** A dispatch's job id, never used again: the same dispatch added twice is one job. */
export function operationJobId(job: { runId: RunId; operationId: OperationId; dispatch: number }): string {
  return `${job.runId}-${job.operationId}-${job.dispatch}`
}
