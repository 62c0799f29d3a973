import { z } from 'zod'
import { withoutLogin } from './hide-secrets.ts'

type Login = { username?: string; password?: string }
export type ClusterAddress = Login & { kind: 'cluster'; nodes: readonly Node[]; tls: boolean }
export type SentinelAddress = Login & { kind: 'sentinel'; nodes: readonly Node[]; tls: boolean; name: string }

type Node = { host: string; port: number }
type RedisAddress = { kind: 'server' } | ClusterAddress | SentinelAddress

const serverUrl = z.url({ protocol: /^rediss?$/ })
const manyUrl = /^(rediss?)\+(cluster|sentinel):\/\/(?:([^@/,]*)@)?([^@/?#]+)(?:\/([\w.-]*))?$/
const defaultPorts = { cluster: 6379, sentinel: 26_379 }

/**
 * `redis://…` or `rediss://…` (TLS) names one server, `redis+cluster://host:port,host:port` or `rediss+cluster://…`
 * nodes of a cluster, `redis+sentinel://host:port,host:port/NAME` sentinels of a master. `user:password@` stands once,
 * percent-encoded; a cluster has no numbered databases.
 */
export const RedisUrl = z
  .string()
  .refine(
    (text) => parseRedisUrl(text) !== undefined,
    'expected redis://host:port, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/NAME (rediss… with TLS)',
  )

export function parseRedisUrl(text: string): RedisAddress | undefined {
  if (serverUrl.safeParse(text).success) return { kind: 'server' }
  const [, scheme, kind, login, hosts, name = ''] = manyUrl.exec(text) ?? []
  if (hosts === undefined || (kind === 'sentinel') !== (name !== '')) return undefined
  const defaultPort = kind === 'sentinel' ? defaultPorts.sentinel : defaultPorts.cluster
  const nodes = hosts.split(',').flatMap((host) => parseNode(host, defaultPort))
  const credentials = parseLogin(login)
  if (nodes.length < hosts.split(',').length || credentials === undefined) return undefined
  const shared = { nodes, tls: scheme === 'rediss', ...credentials }
  return kind === 'sentinel' ? { kind, name, ...shared } : { kind: 'cluster', ...shared }
}

function parseNode(text: string, defaultPort: number): Node[] {
  const { data } = serverUrl.safeParse(`redis://${text}`)
  if (data === undefined || text.startsWith(':') || text === '') return []
  const { hostname, port } = new URL(data)
  // Brackets belong to an IPv6 address in a URL, not to a socket's address.
  return [{ host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? defaultPort : Number(port) }]
}

function parseLogin(login = ''): Login | undefined {
  const colon = login.indexOf(':')
  const parts = colon < 0 ? [login, ''] : [login.slice(0, colon), login.slice(colon + 1)]
  try {
    const [username = '', password = ''] = parts.map(decodeURIComponent)
    return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) }
  } catch {
    return undefined
  }
}

/** Says what is wrong, without any secret of it. A login or a query would never be sent: requests go to paths below it. */
export function faultOfServerUrl(text: string): string | undefined {
  const shown = withoutLogin(text)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text.trim())) {
    return `must begin with http:// or https://, such as http://host:8000/v1, not ${shown}`
  }
  if (url.username !== '' || url.password !== '') {
    return `must be without a login, since none is sent (a key goes into REMORA_MODEL_API_KEY): ${shown}`
  }
  return url.search === '' && url.hash === '' ? undefined : `must be without a query, since none is sent: ${shown}`
}

/** Returns the address that requests go below: one without a path means its `/v1`. For an address without a fault. */
export function modelServerUrl(text: string): string {
  const { origin, pathname } = new URL(text)
  const path = pathname.replace(/\/+$/, '')
  return `${origin}${path === '' ? '/v1' : path}`
}
