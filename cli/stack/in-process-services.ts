import type { ModelKind } from '#domain/model-kind.ts'
import type { Env } from '#platform/env.ts'
import type { Log } from '#platform/log.ts'
import type { openReleaser } from '#platform/shutdown.ts'
import { startApi } from '../../services/api/api-service.ts'
import { parseConfig as parseApiConfig } from '../../services/api/config.ts'

type Releaser = ReturnType<typeof openReleaser>

/** The services' own factories, configured by the variables their processes would read, and run in this process. */
export async function startInProcess(options: {
  env: Env
  /** Undefined where nothing is to be answered. */
  modelKind: ModelKind | undefined
  discovery: boolean
  log: Log
  releaser: Releaser
}): Promise<{ url: string }> {
  const { env, modelKind, log, releaser } = options
  const api = await startApi({ ...parseApiConfig(env).api, modelKind }, { log })
  releaser.add('api', api.close)
  if (options.discovery) {
    const { startDiscovery } = await import('../../services/discovery/discovery-service.ts')
    const { parseConfig } = await import('../../services/discovery/config.ts')
    const discovery = await startDiscovery({ ...parseConfig(env).discovery, isAlone: true, modelKind }, { log })
    releaser.add('discovery', discovery.close)
  }
  return { url: api.url }
}
