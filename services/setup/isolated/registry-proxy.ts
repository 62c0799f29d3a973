import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import { asksForAnother, type ClientHello, readClientHello } from './client-hello.ts'
import { type Lookup, nameInTls, type Permission, permitted, type RegistryRules } from './registry-rules.ts'

export type RegistryProxy = {
  /** Bytes from each host, and what was refused, each with its reason, the first of them. */
  report(): ProxyReport
  close(): Promise<void>
}

export type ProxyReport = { hosts: Record<string, number>; refused: string[]; isOverLimit: boolean }

export type ProxyOptions = {
  path: string
  rules: RegistryRules
  maxBytes: number
  lookup?: Lookup
  /** Limits how long a client takes to send the first message of TLS. */
  helloMs?: number
}

const idleMs = 120_000
const usualHelloMs = 20_000
const mostConnections = 128
const mostNamed = 20

/**
 * Reaches the registries alone for one setup: CONNECT for https, GET and HEAD for http. It resolves names itself, and passes on
 * only TLS to the host of CONNECT: many sites share a registry's addresses. Nothing that a repository's programs send is
 * believed.
 */
export async function openRegistryProxy(options: ProxyOptions): Promise<RegistryProxy> {
  const proxy = openAccount(options)
  const server = createServer({ maxHeaderSize: 16_384, headersTimeout: 20_000 })
  server.maxConnections = mostConnections
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => client.destroy())
    void tunnel(request, { client, head }, proxy).catch(() => client.destroy())
  })
  server.on('request', (request, response) => void forward(request, response, proxy).catch(() => response.destroy()))
  server.on('clientError', (_error, client) => client.destroy())
  server.listen(options.path)
  await once(server, 'listening')
  return {
    report: proxy.report,
    async close() {
      proxy.end()
      server.closeAllConnections()
      server.close()
    },
  }
}

type Account = ReturnType<typeof openAccount>

function openAccount({ rules, maxBytes, lookup: resolve = allAddresses, helloMs = usualHelloMs }: ProxyOptions) {
  const open = new Set<Duplex | Readable>()
  const hosts: Record<string, number> = {}
  const refused: string[] = []
  let bytes = 0
  const end = () => open.forEach((stream) => stream.destroy())
  const refuse = (host: string, why: string): string => {
    const line = `${host.slice(0, 253)} ${why}`.replaceAll(/[^\x20-\x7e]/g, '?')
    if (refused.length < mostNamed && !refused.includes(line)) refused.push(line)
    return line
  }
  const add = (host: string, more: number): void => {
    bytes += more
    hosts[host] = (hosts[host] ?? 0) + more
    if (bytes > maxBytes) end()
  }
  return {
    end,
    refuse,
    add,
    helloMs,
    report: (): ProxyReport => ({ hosts, refused, isOverLimit: bytes > maxBytes }),
    async permission(host: string, port: number): Promise<Permission> {
      const permission = await permitted({ host, port }, rules, resolve)
      if (!('refusal' in permission))
        return bytes > maxBytes ? { refusal: 'has sent more than setup.download_mb' } : permission
      return { refusal: refuse(host, permission.refusal) }
    },
    track(stream: Duplex | Readable) {
      open.add(stream)
      stream.on('close', () => open.delete(stream))
    },
    count: (host: string, stream: Duplex | Readable) =>
      void stream.on('data', (chunk: Buffer) => add(host, chunk.length)),
  }
}

async function allAddresses(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

async function tunnel(
  { url = '' }: IncomingMessage,
  { client, head }: { client: Duplex; head: Buffer },
  proxy: Account,
): Promise<void> {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(url) ?? []
  const permission = await proxy.permission(host, Number(port))
  if ('refusal' in permission) {
    client.end(`HTTP/1.1 403 ${permission.refusal}\r\nConnection: close\r\n\r\n`)
    return
  }
  const server = connect({ host: permission.address, port: Number(port) })
  server.setTimeout(idleMs, () => server.destroy())
  server.on('error', () => client.destroy())
  server.on('close', () => client.destroy())
  client.on('close', () => server.destroy())
  for (const stream of [client, server]) proxy.track(stream)
  await once(server, 'connect')
  client.write('HTTP/1.1 200 OK\r\n\r\n')
  if (head.length > 0) client.unshift(head)
  if (!(await passHello({ client, host }, server, proxy))) return void client.destroy()
  const first = await readUntil(server, asksForAnother, AbortSignal.timeout(idleMs))
  if (first.found) {
    proxy.add(host, first.bytes.length)
    client.write(first.bytes)
    if (!(await passHello({ client, host, isRetry: true }, server, proxy))) return void client.destroy()
  } else server.unshift(first.bytes)
  // Only now: what is counted flows, and would be gone before there is a pipe.
  proxy.count(host, server)
  proxy.count(host, client)
  client.pipe(server)
  server.pipe(client)
}

type Asking = { client: Duplex; host: string; isRetry?: boolean }

/** Passes the first message of the client on if it names the host that it was to be connected with; what follows stays in the stream. */
async function passHello({ client, host, isRetry = false }: Asking, server: Duplex, proxy: Account): Promise<boolean> {
  const wanted = nameInTls(host)
  const look = (bytes: Buffer) => {
    const read = readClientHello(bytes, { isRetry })
    return read.kind === 'more' ? undefined : read
  }
  const hello = await readUntil(client, look, AbortSignal.timeout(proxy.helloMs)).catch(() => undefined)
  const refusal = hello === undefined ? 'was not asked for by TLS in time' : refusalOf(hello.found, wanted)
  if (hello === undefined || hello.found.kind === 'none' || refusal !== undefined) {
    proxy.refuse(host, refusal ?? 'was not asked for by TLS')
    return false
  }
  const { bytes } = hello.found
  proxy.add(host, bytes)
  server.write(hello.bytes.subarray(0, bytes))
  if (hello.bytes.length > bytes) client.unshift(hello.bytes.subarray(bytes))
  return true
}

function refusalOf(read: ClientHello | { kind: 'none'; reason: string }, wanted: string | undefined) {
  if (read.kind === 'none') return `is not reached by a client that ${read.reason}`
  const named = read.serverName?.toLowerCase()
  return named === wanted ? undefined : `was asked in TLS for ${named?.slice(0, 253) ?? 'no host'}`
}

async function readUntil<Found>(stream: Duplex, look: (bytes: Buffer) => Found | undefined, signal: AbortSignal) {
  const closed = new AbortController()
  const close = () => closed.abort(new Error('the stream has ended'))
  stream.once('close', close).once('end', close)
  try {
    for (let bytes = Buffer.alloc(0); ;) {
      const chunk: unknown = stream.read()
      if (Buffer.isBuffer(chunk)) {
        bytes = Buffer.concat([bytes, chunk])
        const reading = look(bytes)
        if (reading !== undefined) return { found: reading, bytes }
      } else await once(stream, 'readable', { signal: AbortSignal.any([signal, closed.signal]) })
    }
  } finally {
    stream.off('close', close).off('end', close)
  }
}

const ofConnection = ['proxy-connection', 'proxy-authorization', 'connection', 'keep-alive', 'upgrade', 'te']

async function forward(request: IncomingMessage, response: ServerResponse, proxy: Account): Promise<void> {
  const { method = '', url = '', headers } = request
  const target = URL.canParse(url) ? new URL(url) : undefined
  const refuse = (words: string) => void response.writeHead(403, { connection: 'close' }).end(`${words}\n`)
  if (target?.protocol !== 'http:' || !['GET', 'HEAD'].includes(method))
    return refuse('only GET of http://, and CONNECT')
  const port = Number(target.port || 80)
  const permission = await proxy.permission(target.hostname, port)
  if ('refusal' in permission) return refuse(permission.refusal)
  const kept = Object.entries(headers).filter(([name]) => !ofConnection.includes(name))
  const sent = sendRequest({
    host: permission.address,
    port,
    method,
    path: `${target.pathname}${target.search}`,
    headers: { ...Object.fromEntries(kept), host: target.host, connection: 'close' },
    agent: false,
    timeout: idleMs,
  })
  sent.on('timeout', () => sent.destroy())
  sent.on('error', () => response.destroy())
  response.on('close', () => sent.destroy())
  sent.on('response', (answer) => {
    proxy.track(answer)
    proxy.count(target.hostname, answer)
    answer.on('error', () => response.destroy())
    answer.on('close', () => answer.complete || response.destroy())
    try {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
    } catch {
      answer.destroy() // a status or a header that nobody may send on
      return void response.destroy()
    }
    answer.pipe(response)
  })
  sent.end()
}
