import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, type ConnectionOptions, createServer as createTlsServer } from 'node:tls'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { boundPort } from '#platform/http-health.ts'
import { helloOf, inRecords } from './client-hello.fixture.ts'
import { openRegistryProxy, type RegistryProxy } from './registry-proxy.ts'
import { registryRules } from './registry-rules.ts'

let dir = ''
let proxy: RegistryProxy
let server: Server
let answer: (socket: Socket) => void = () => {}
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-proxy-'))
  server = createServer((socket) => answer(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const rules = registryRules([], [`registry.example:${boundPort(server)}`])
  const lookup = async () => ['127.0.0.1']
  proxy = await openRegistryProxy({ path: join(dir, 'socket'), rules, maxBytes: 1_000_000, lookup, helloMs: 2_000 })
})
afterEach(async () => {
  await proxy.close()
  server.close()
  await rm(dir, { recursive: true })
})

/** What comes back for bytes that are sent in these chunks. */
async function said(...chunks: (string | Buffer)[]): Promise<string> {
  const client = connect(join(dir, 'socket'))
  for (const chunk of chunks) {
    client.write(chunk)
    await new Promise(setImmediate)
  }
  return text(client)
}
const place = () => `registry.example:${boundPort(server)}`

it('loses nothing that is sent before it has connected, and counts it', async () => {
  const hello = await helloOf({ servername: 'Registry.example' })
  let got = Buffer.alloc(0)
  answer = (socket) => {
    socket.on('data', (chunk: Buffer) => {
      got = Buffer.concat([got, chunk])
      if (got.length === hello.length) socket.write('heard')
      if (got.toString().endsWith('third')) socket.end('!')
    })
  }
  const asking = Buffer.from(`CONNECT ${place()} HTTP/1.1\r\nHost: a\r\n\r\n`)
  const back = await said(
    Buffer.concat([asking, hello.subarray(0, 9)]),
    hello.subarray(9, 700),
    hello.subarray(700),
    'second',
    'third',
  )
  expect(got.equals(Buffer.concat([hello, Buffer.from('secondthird')]))).toBe(true)
  expect(back).toMatch(/200 OK\r\n\r\nheard!$/)
  expect(proxy.report().hosts).toEqual({ 'registry.example': got.length + 'heard!'.length })
})

it('outlives an answer that cannot be sent on', async () => {
  answer = (socket) => socket.on('data', () => socket.end('HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n'))
  const asking = `GET http://${place()}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
  expect(await said(asking)).toBe('')
  answer = (socket) => socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  expect(await said(asking)).toMatch(/ok$/)
})

/** What the server got of what a client sends behind CONNECT, and what the proxy says of it. */
async function reached(...sent: (string | Buffer)[]): Promise<{ got: string; refused: string[] }> {
  let got = ''
  answer = (socket) => socket.on('data', (chunk: Buffer) => (got += chunk.toString('latin1')))
  await said(`CONNECT ${place()} HTTP/1.1\r\nHost: a\r\n\r\n`, ...sent)
  return { got, refused: proxy.report().refused }
}

it.each([
  [
    'another site of the same address',
    () => helloOf({ servername: 'evil.example' }),
    'was asked in TLS for evil.example',
  ],
  [
    'one in the pieces of a record',
    async () => inRecords(await helloOf({ servername: 'evil.example' }), 3),
    'for evil.example',
  ],
  ['no site', () => helloOf({ host: '10.0.0.1' }), 'was asked in TLS for no host'],
  ['anything in plain text', async () => 'GET / HTTP/1.1\r\nHost: registry.example\r\n\r\n', 'does not begin with TLS'],
  ['a site that is not named in time', async () => Buffer.from([22, 3, 1]), 'was not asked for by TLS in time'],
])('reaches not %s', async (_, sent, reason) => {
  const { got, refused } = await reached(await sent())
  expect(got).toBe('')
  expect(refused).toEqual([expect.stringContaining(`registry.example `)])
  expect(refused[0]).toContain(reason)
})

it('reaches not another site by a second message, which a server may ask for', async () => {
  const retry = Buffer.from(
    '160303002e0200002a0303cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c00130200',
    'hex',
  )
  let got = Buffer.alloc(0)
  answer = (socket) => {
    socket.on('data', (chunk: Buffer) => {
      if (got.length === 0) socket.write(retry)
      got = Buffer.concat([got, chunk])
    })
  }
  const own = await helloOf({ servername: 'registry.example' })
  const other = await helloOf({ servername: 'evil.example' })
  await said(`CONNECT ${place()} HTTP/1.1\r\nHost: a\r\n\r\n`, own, Buffer.from([20, 3, 3, 0, 1, 1]), other)
  expect(got.equals(own)).toBe(true)
  expect(proxy.report().refused).toEqual(['registry.example was asked in TLS for evil.example'])
})

it.skipIf(lacks('openssl')).each<[string, ConnectionOptions]>([
  ['TLS 1.3', {}],
  ['TLS 1.2', { maxVersion: 'TLSv1.2' }],
  ['a second message that the server asks for', { ecdhCurve: 'X25519:P-384' }],
])('carries %s', async (_, options) => {
  const [key, cert] = [join(dir, 'key'), join(dir, 'cert')]
  const made = [...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout'.split(' '), key, '-out', cert]
  execFileSync('openssl', [...made, '-subj', '/CN=registry.example'], { stdio: 'ignore' })
  const identity = { key: await readFile(key), cert: await readFile(cert), ecdhCurve: 'P-384:P-256' }
  const secure = createTlsServer(identity, (socket) => void socket.on('data', () => socket.end('a package')))
  answer = (socket) => void secure.emit('connection', socket)
  const client = connect(join(dir, 'socket'))
  client.write(`CONNECT ${place()} HTTP/1.1\r\nHost: a\r\n\r\n`)
  await once(client, 'readable')
  expect(String(client.read())).toBe('HTTP/1.1 200 OK\r\n\r\n')
  const inside = connectTls({ ...options, socket: client, servername: 'registry.example', ca: identity.cert })
  inside.write('a question')
  expect(await text(inside)).toBe('a package')
  expect(proxy.report().refused).toEqual([])
})
