import { z } from 'zod'

/** A request to a model server that was sent, and was not answered as it must be. */
export const FailedTry = z.strictObject({
  endpoint: z.string(),
  code: z.string(),
  message: z.string(),
  /** From its sending. */
  durationMs: z.number(),
})
export type FailedTry = z.infer<typeof FailedTry>

/** As events and the API tell it. */
export function failedTryView({ endpoint, code, message, durationMs }: FailedTry) {
  return { endpoint, error_code: code, message, duration_ms: durationMs }
}
