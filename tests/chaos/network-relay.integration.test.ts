import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { boundPort } from '#platform/http-health.ts'
import { until } from '#testing/until.ts'
import { type NetworkRelay, openNetworkRelay } from './network-relay.ts'

describe('the way from a machine to a server', () => {
  const server = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket))
  const open: Socket[] = []
  let delayMs = 0
  let relay: NetworkRelay

  beforeEach(async () => {
    delayMs = 0
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    relay = await openNetworkRelay({ host: '127.0.0.1', target: boundPort(server), delayOf: () => delayMs })
  })
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.destroy()
    await relay.close()
    server.close()
    await once(server, 'close')
  })

  function dial() {
    const socket = connect({ port: relay.port, host: '127.0.0.1', allowHalfOpen: true })
    open.push(socket)
    const heard = { text: '', ended: false, closed: false }
    socket.on('data', (chunk) => (heard.text += chunk.toString()))
    socket.on('end', () => (heard.ended = true))
    socket.on('close', () => (heard.closed = true))
    socket.on('error', () => {})
    return { socket, heard }
  }

  it('passes on what each side says, and its end', async () => {
    const { socket, heard } = dial()
    socket.end('hello')
    await until(() => heard.ended)
    expect(heard.text).toBe('hello')
    expect(relay.late()).toBe(0)
  })

  it('keeps the order of what it holds back when the delay gets shorter', async () => {
    const { socket, heard } = dial()
    delayMs = 100
    socket.write('first ')
    await until(() => relay.late(), { holds: (count) => count > 0 })
    expect(heard.text).toBe('')
    delayMs = 0
    socket.end('second')
    await until(() => heard.ended)
    expect(heard.text).toBe('first second')
  })

  it('closes what came from an address', async () => {
    const { socket, heard } = dial()
    socket.write('hello')
    await until(() => heard, { holds: ({ text }) => text === 'hello' })
    relay.closeFrom('127.0.0.2')
    expect(heard.closed || heard.ended).toBe(false)
    relay.closeFrom('127.0.0.1')
    await until(() => heard.closed || heard.ended)
  })
})
