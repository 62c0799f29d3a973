import { endedRunStatuses } from '#domain/run.ts'

/** Whether a run of this status, as the service says it, is over. */
export function hasEnded(status: string): boolean {
  return endedRunStatuses.some((ended) => ended === status)
}
