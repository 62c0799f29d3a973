import type { TryFailure } from '../../wire/try-failure.ts'
import type { SeatEnd } from './replica.ts'

/** What a failed try tells of the server. */
export function seatEndOf({ error, status }: TryFailure): SeatEnd {
  if (status === 429 || status === 529) return 'overloaded'
  if (status === 503) return 'unavailable'
  if (status !== undefined) return status >= 500 ? 'failed' : 'refused'
  return error.code === 'AGENT_007' ? 'refused' : 'failed'
}

/** Whether the server said that it knows no such model, or no such address. */
export function isNotFound({ status }: TryFailure): boolean {
  return status === 404
}
