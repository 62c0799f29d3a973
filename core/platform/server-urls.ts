import { z } from 'zod'
import { withoutLogin } from './hide-secrets.ts'

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
 * `redis://…` or `rediss://…` (TLS) names one server, `redis+cluster://host:port,host:port` or `rediss+cluster://…`
 * nodes of a cluster. `user:password@` stands once, percent-encoded; a cluster has no numbered databases.
 */
export const RedisUrl = z
  .string()
  .refine(
    (text) => parseRedisUrl(text) !== undefined,
    'expected redis://host:port, or redis+cluster://host:port,host:port (rediss and rediss+cluster with TLS)',
  )

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

/** What is wrong, without any secret of it. A login or a query would never be sent: requests go to paths below it. */
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

/** The address that requests go below: one without a path means its `/v1`. For an address without a fault. */
export function modelServerUrl(text: string): string {
  const { origin, pathname } = new URL(text)
  const path = pathname.replace(/\/+$/, '')
  return `${origin}${path === '' ? '/v1' : path}`
}
