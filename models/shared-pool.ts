import type { HttpProxy } from '#platform/env.ts'
import type { Log } from '#platform/log.ts'
import type { Metrics } from '#platform/metrics/open-metrics.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { type EndpointChoice, type ModelPool, type ModelPoolOptions, openModelPool } from './model-pool.ts'
import { openSharedSlots } from './pool/slots/shared-slots.ts'

/** Is how a service is configured to reach its models (settings/model-config.ts). */
type PoolConfig = {
  servers: readonly EndpointChoice[]
  apiKey: string | undefined
  timeoutMs: number
  retryBudgetMs: number
  hedgeAfterMs: number | undefined
  stream: boolean
  proxy: HttpProxy | undefined
}

/** `holder`: who leases slots, by a name of its own. `slots`: how many requests it may have open at each server. */
type PoolUser = { redis: RedisClient; holder: string; slots: number; metrics: Metrics; log: Log }

/** Opens the pool of a service that shares the servers with all others, and shows in its metrics what it asks. */
export function openSharedPool(config: PoolConfig, { redis, holder, slots, metrics, log }: PoolUser): ModelPool {
  const { servers, apiKey, timeoutMs, retryBudgetMs, hedgeAfterMs, stream, proxy } = config
  const pool = openModelPool({
    endpoints: servers.map((server) => ({ ...server, apiKey })),
    slots: openSharedSlots({ redis, holder, log }),
    requestTimeoutMs: timeoutMs,
    retryBudgetMs,
    hedgeAfterMs,
    maxInFlight: slots,
    stream,
    proxy,
    onEnd: measuredRequests(metrics),
    log,
  })
  showPool(pool, metrics)
  return pool
}

function measuredRequests(metrics: Pick<Metrics, 'count' | 'observe'>): NonNullable<ModelPoolOptions['onEnd']> {
  return (end) => {
    const { server, result } = end
    metrics.count('remora_model_requests_total', { server, result })
    if (end.result !== 'ok') return
    const { latencyMs, usage } = end.reply
    metrics.observe('remora_model_request_seconds', { server }, latencyMs / 1000)
    metrics.count('remora_model_tokens_total', { server, kind: 'prompt' }, usage.promptTokens)
    metrics.count('remora_model_tokens_total', { server, kind: 'completion' }, usage.completionTokens)
  }
}

function showPool(pool: Pick<ModelPool, 'status'>, { gauge }: Pick<Metrics, 'gauge'>): void {
  const perServer = (valueOf: (server: ReturnType<ModelPool['status']>['endpoints'][number]) => number) => () =>
    pool.status().endpoints.map((server) => ({ labels: { server: server.name }, value: valueOf(server) }))
  const inFlight = perServer((server) => server.inFlight)
  gauge('remora_model_in_flight', inFlight)
  const isOpen = perServer(({ breaker }) => (breaker === 'closed' ? 0 : 1))
  gauge('remora_model_breaker_open', isOpen)
  gauge('remora_model_queued', () => [{ labels: {}, value: pool.status().waiting }])
}
