import type { ModelKind } from '#domain/model-kind.ts'
import type { Env } from '#platform/env.ts'
import type { Log } from '#platform/log.ts'
import type { openReleaser } from '#platform/shutdown.ts'
import { startApi } from '../../services/api/api-service.ts'
import { parseConfig as parseApiConfig } from '../../services/api/config.ts'

type Releaser = ReturnType<typeof openReleaser>

/** The code of discovery, which takes half a second to load. */
export async function loadDiscovery() {
  const [{ startDiscovery }, { parseConfig }] = await Promise.all([
    import('../../services/discovery/discovery-service.ts'),
    import('../../services/discovery/config.ts'),
  ])
  return { startDiscovery, parseConfig }
}

/** The services' own factories, configured by the variables their processes would read, and run in this process. */
export async function startInProcess(options: {
  env: Env
  /** Undefined where nothing is to be answered. */
  modelKind: ModelKind | undefined
  /** Its code, which may still be loading; undefined where no discovery is to run. */
  discovery: ReturnType<typeof loadDiscovery> | undefined
  log: Log
  releaser: Releaser
}): Promise<{ url: string }> {
  const { env, modelKind, log, releaser } = options
  const api = await startApi({ ...parseApiConfig(env).api, modelKind }, { log })
  releaser.add('api', api.close)
  if (options.discovery !== undefined) {
    const { startDiscovery, parseConfig } = await options.discovery
    const discovery = await startDiscovery({ ...parseConfig(env).discovery, isAlone: true, modelKind }, { log })
    releaser.add('discovery', discovery.close)
  }
  return { url: api.url }
}
