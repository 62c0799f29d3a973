import { availableParallelism } from 'node:os'

/** Worker processes of an embedded stack: one per two cores. The rest is for Redis, S3 and the services beside them. */
export function defaultWorkers(): number {
  return Math.max(1, Math.floor(availableParallelism() / 2))
}
