import { openHealth } from '#platform/http-health.ts'
import { type Log, processName } from '#platform/log.ts'
import { openMetrics } from '#platform/metrics/open-metrics.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { openReleaser } from '#platform/service-process.ts'
import { openTracing } from '#platform/tracing/open-tracing.ts'
import { watchStore } from '#store/objects/logged-outages.ts'
import { openApi } from './api-app.ts'
import { parseConfig, type ApiConfig } from './api-config.ts'
import { serveApp } from './http/serve-app.ts'

export type ApiService = {
  url: string
  healthPort: number
  /** Stops accepting, ends waiting requests, lets the others finish for up to 10 s, then closes what it opened. */
  close(): Promise<void>
}

const graceMs = 10_000

export const api = { name: 'api', parseConfig, start: startApi } as const

/** Resolves when it listens; the stores may still be connecting. */
export async function startApi(config: ApiConfig, deps: { log: Log; redactor: Redactor }): Promise<ApiService> {
  const { log } = deps
  const releaser = openReleaser()
  try {
    const metrics = openMetrics('api')
    const traces = await openTracing(config.traces, { service: 'api', instance: processName(), log })
    releaser.add('traces', traces.close)
    const { app, objects, readiness, endWaiting, close } = await openApi(config, { ...deps, metrics, traces })
    releaser.add('app', close)
    releaser.add('watch of the object store', watchStore(objects))
    const health = await openHealth(config.health, { readiness, metrics })
    releaser.add('health', health.close)
    const { host, port, maxConnections } = config
    const served = await serveApp(app, { host, port, graceMs, limits: { maxConnections }, log })
    releaser.add('http', served.close)
    releaser.add('waiting requests', async () => endWaiting())
    return { url: served.url, healthPort: health.port, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}
