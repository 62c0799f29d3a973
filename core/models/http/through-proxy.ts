import { Pool, type buildConnector, type EnvHttpProxyAgent } from 'undici'
import type { HttpProxy } from '#platform/proxy-env.ts'
import type { UsedSockets } from './used-sockets.ts'

/**
 * What undici needs to go through these proxies, and nothing else of the environment: to https servers by a tunnel, to http
 * servers by asking the proxy. By itself it forgets the limits of the latter, and knows nothing of used sockets.
 */
export function throughProxy(
  { http = '', https = '', direct }: HttpProxy,
  { limits, sockets }: { limits: Pool.Options; sockets: UsedSockets },
): EnvHttpProxyAgent.Options {
  return {
    ...limits,
    httpProxy: http,
    httpsProxy: https,
    noProxy: direct,
    factory: (origin, options) => new Pool(origin, { ...limits, connect: sockets.watched(connectorIn(options)) }),
  }
}

/** undici hands its way through the proxy to the factory, and says of it only that there are options. */
function connectorIn(options: object): buildConnector.connector | undefined {
  const { connect } = { connect: undefined, ...options }
  return isConnector(connect) ? connect : undefined
}

function isConnector(value: unknown): value is buildConnector.connector {
  return typeof value === 'function'
}
