import type { BreakerState } from './replicas/circuit-breaker.ts'
import type { Replica } from './replicas/replica.ts'
import type { ServerMetrics } from './watch/server-metrics.ts'

export type EndpointStatus = {
  /** Its URL. */
  name: string
  breaker: BreakerState
  /** Requests this process sends it at once, for now. */
  limit: number
  inFlight: number
  /** Undefined while it has not said. */
  models: readonly string[] | undefined
  metrics: ServerMetrics | undefined
}

export type PoolStatus = {
  /** Requests in line for a place at any endpoint. */
  waiting: number
  endpoints: EndpointStatus[]
}

export function endpointStatus(replica: Replica, metrics: ServerMetrics | undefined): EndpointStatus {
  return {
    name: replica.name,
    breaker: replica.breaker.state(),
    limit: replica.limit.current(),
    inFlight: replica.inFlight(),
    models: replica.offered.models(),
    metrics,
  }
}
