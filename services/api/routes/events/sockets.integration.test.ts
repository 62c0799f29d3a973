import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { parseJson } from '#domain/json.ts'
import { until } from '#testing/until.ts'
import { openSocket, rawRequest } from '../../http/raw-request.fixture.ts'
import { handshakeOf, openWebSocket } from './event-frames.fixture.ts'
import { serveEvents, some, useEventServer } from './event-server.fixture.ts'

const events = useEventServer()
const { test, eventsOf } = events

describe('a WebSocket', () => {
  it('tells after a silence how far it has looked, and answers pings', async () => {
    const brief = await serveEvents(test, { heartbeatMs: 20 })
    const socket = await openWebSocket(eventsOf('?category=run_lifecycle', brief))
    await events.run.emit(some(30))
    const id = `${await events.run.seq()}`
    for await (const frame of socket.frames()) if (frame.type === 'ping' && frame.id === id) break
    socket.send('{"type":"ping"}')
    socket.send('{"type":"pong"}')
    for await (const frame of socket.frames()) if (frame.type === 'pong') break
    await events.run.end()
    expect((await Array.fromAsync(socket.frames())).at(-1)).toMatchObject({ type: 'end' })
    expect(await socket.closed).toBe(1000)
    await brief.close()
  })

  it.for([
    ['is not JSON', 'hello', 4400],
    ['is no object', '[]', 4400],
    ['has an unknown type', '{"type":"event"}', 4400],
    ['is binary', new Uint8Array([1]), 4400],
    ['is too long', 'x'.repeat(5_000), 1009],
  ] as const)('is closed when its client sends what %s, and no other', async ([, sent, code]) => {
    const [bad, good] = await Promise.all([openWebSocket(eventsOf()), openWebSocket(eventsOf())])
    bad.send(sent)
    expect(await bad.closed).toBe(code)
    await events.run.end()
    expect((await Array.fromAsync(good.frames())).at(-1)).toMatchObject({ type: 'end' })
  })

  it('brings events of any length', async () => {
    const socket = await openWebSocket(eventsOf(`?after=${await events.run.seq()}`))
    const texts = [1, 65_000, 70_000].map((length) => 'x'.repeat(length))
    for (const text of texts) await events.run.emit(some(1, { text }))
    await events.run.end()
    const frames = await Array.fromAsync(socket.frames())
    const data = frames.flatMap((frame) => (frame.type === 'event' ? frame.event.data : []))
    expect(data.slice(0, texts.length)).toMatchObject(texts.map((text) => ({ text })))
  })

  it('whose client neither reads nor answers is cut, and no other', async () => {
    const strict = await serveEvents(test, { stuckMs: 2_000, heartbeatMs: 50 })
    const quick = await openWebSocket(eventsOf('', strict))
    const silent = openSocket(strict.url)
    silent.pause().write(handshakeOf(eventsOf('', strict)))
    const reading = Array.fromAsync(quick.frames())
    for (let batch = 0; batch < 10; batch += 1) await events.run.emit(some(100, { text: 'x'.repeat(8_000) }))
    await until(() => strict.lines.some((line) => line.includes('reader of events cut')))
    await events.run.end()
    expect((await reading).at(-1)).toMatchObject({ type: 'end' })
    silent.destroy()
    await strict.close()
  })

  it.for([
    [
      'frames',
      async () => {
        const socket = await openWebSocket(eventsOf())
        for (let sent = 0; sent < 1_000; sent += 1) socket.send('{"type":"ping"}')
        return socket.closed
      },
    ],
    [
      'pings of the protocol',
      async () => {
        const socket = openSocket(events.server.url)
        socket.write(handshakeOf(eventsOf()))
        socket.write(Buffer.concat(Array.from({ length: 1_000 }, () => Buffer.from([0x89, 0x80, 0, 0, 0, 0]))))
        return (await buffer(socket)).subarray(-2 - 'too many frames'.length).readUInt16BE()
      },
    ],
  ] as const)('whose client sends %s without end is closed, and no other', async ([, flood]) => {
    const good = await openWebSocket(eventsOf())
    expect(await flood()).toBe(4429)
    await events.run.end()
    expect((await Array.fromAsync(good.frames())).at(-1)).toMatchObject({ type: 'end' })
  })

  it.for([
    ['of an unknown run', () => `${events.server.url}/v1/runs/r0000000000000/events`, {}, 404, 'RUN_001'],
    ['of an unknown category', () => eventsOf('?category=odd'), {}, 400, 'RUN_002'],
    ['of a wrong position', () => eventsOf('?after=first'), {}, 400, 'RUN_002'],
    ['that is no handshake', () => eventsOf(), { 'sec-websocket-key': 'short' }, 400, 'HTTP_004'],
  ] as const)('%s is refused with a problem', async ([, url, headers, status, code]) => {
    const answer = await rawRequest(events.server.url, handshakeOf(url(), headers))
    expect([answer.status, parseJson(answer.body)]).toMatchObject([status, { error_code: code }])
  })
})
