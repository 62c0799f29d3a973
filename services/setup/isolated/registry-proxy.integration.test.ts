import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { boundPort } from '#platform/http-health.ts'
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
  proxy = await openRegistryProxy({ path: join(dir, 'socket'), rules, maxBytes: 1_000_000, lookup })
})
afterEach(async () => {
  await proxy.close()
  server.close()
  await rm(dir, { recursive: true })
})

/** What comes back for bytes that are sent in these chunks. */
async function said(...chunks: string[]): Promise<string> {
  const client = connect(join(dir, 'socket'))
  for (const chunk of chunks) {
    client.write(chunk)
    await new Promise(setImmediate)
  }
  return text(client)
}
const place = () => `registry.example:${boundPort(server)}`

it('loses nothing that is sent before it has connected, and counts it', async () => {
  let got = ''
  answer = (socket) => {
    socket.on('data', (chunk) => {
      got += chunk.toString()
      if (got.endsWith('third')) socket.end('heard')
    })
  }
  const back = await said(`CONNECT ${place()} HTTP/1.1\r\nHost: a\r\n\r\nfirst`, 'second', 'third')
  expect(got).toBe('firstsecondthird')
  expect(back).toMatch(/200 OK\r\n\r\nheard$/)
  expect(proxy.report().hosts).toEqual({ 'registry.example': got.length + 'heard'.length })
})

it('outlives an answer that cannot be sent on', async () => {
  answer = (socket) => socket.on('data', () => socket.end('HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n'))
  const asking = `GET http://${place()}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
  expect(await said(asking)).toBe('')
  answer = (socket) => socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  expect(await said(asking)).toMatch(/ok$/)
})
