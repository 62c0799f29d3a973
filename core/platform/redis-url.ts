import { z } from 'zod'

/** Some nodes of a cluster, from which the others are learned. */
export type ClusterAddress = {
  kind: 'cluster'
  nodes: readonly { host: string; port: number }[]
  username?: string
  password?: string
  tls: boolean
}

type RedisAddress = { kind: 'server' } | ClusterAddress

const serverUrl = z.url({ protocol: /^rediss?$/ })
const clusterUrl = /^(rediss?)\+cluster:\/\/(?:([^@/,]*)@)?([^@/?#]+)\/?$/
const defaultPort = 6379

/**
 * What REMORA_REDIS_URL may be. `redis://…` and `rediss://…` (TLS) name one server,
 * `redis+cluster://host:port,host:port` and `rediss+cluster://…` some nodes of a cluster. `user:password@` stands once,
 * before the first node, both percent-encoded; a cluster has no numbered databases.
 */
export const RedisUrl = z
  .string()
  .refine(
    (text) => parseRedisUrl(text) !== undefined,
    'expected redis://host:port, or redis+cluster://host:port,host:port (rediss and rediss+cluster with TLS)',
  )

/** Undefined: not a RedisUrl. */
export function parseRedisUrl(text: string): RedisAddress | undefined {
  if (serverUrl.safeParse(text).success) return { kind: 'server' }
  const [, scheme, login, hosts] = clusterUrl.exec(text) ?? []
  if (hosts === undefined) return undefined
  const nodes = hosts.split(',').flatMap(parseNode)
  const credentials = parseLogin(login)
  if (nodes.length < hosts.split(',').length || credentials === undefined) return undefined
  return { kind: 'cluster', nodes, tls: scheme === 'rediss', ...credentials }
}

/** None: not the address of a node. */
function parseNode(text: string): { host: string; port: number }[] {
  const { data } = serverUrl.safeParse(`redis://${text}`)
  if (data === undefined || text.startsWith(':') || text === '') return []
  const { hostname, port } = new URL(data)
  // Brackets belong to an IPv6 address in a URL, not to a socket's address.
  return [{ host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? defaultPort : Number(port) }]
}

/** Undefined: a percent sign that encodes nothing. */
function parseLogin(login = ''): { username?: string; password?: string } | undefined {
  const colon = login.indexOf(':')
  const parts = colon < 0 ? [login, ''] : [login.slice(0, colon), login.slice(colon + 1)]
  try {
    const [username = '', password = ''] = parts.map(decodeURIComponent)
    return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) }
  } catch {
    return undefined
  }
}
