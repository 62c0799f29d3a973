import { request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { anEvent, testLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openFrames, type Frame, type FrameStream } from './event-frames.fixture.ts'
import { runningRun, serveEvents, type EventServer, type RunningRun } from './event-server.fixture.ts'

let server: EventServer
let run: RunningRun
const test = useOpened(testLedger)
beforeEach(async () => {
  server = await serveEvents(test.ledger)
  run = await runningRun(test)
})
afterEach(() => server.close())

const eventsOf = (query = '') => `${server.url}/v1/runs/${run.runId}/events${query}`
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const some = (count: number, data: Record<string, unknown> = {}) =>
  Array.from({ length: count }, () => anEvent({ data }))

const Categorised = z.object({ category: z.string().optional() })

async function allFrames(stream: FrameStream): Promise<Frame[]> {
  return Array.fromAsync(stream.frames())
}

describe('GET /v1/runs/{run_id}/events as a stream', () => {
  it('gives the events of a run that has ended, then its end, and is closed', async () => {
    await run.emit(some(700))
    await run.end()
    const seq = await run.seq()
    const stream = await openFrames(eventsOf())
    expect(stream).toMatchObject({ status: 200, contentType: 'text/event-stream' })
    const frames = await allFrames(stream)
    expect(frames.slice(0, -1).map(({ id }) => id)).toEqual(numbers(seq))
    expect(frames[4]).toMatchObject({
      event: undefined,
      data: { seq: 5, run_id: run.runId, event: expect.any(String) },
    })
    expect(frames.at(-1)).toEqual({ id: seq, event: 'end', data: { run_id: run.runId, status: 'completed' } })
  })

  it('gives each event as it happens, and the end', async () => {
    const stream = await openFrames(eventsOf(`?after=${await run.seq()}`))
    const frames = stream.frames()
    for (const data of [{ first: 1 }, { second: 2 }]) {
      await run.emit([anEvent({ data })])
      expect(await frames.next()).toMatchObject({ value: { data: { data } } })
    }
    await run.end()
    expect(await frames.next()).toMatchObject({ value: { data: { event: 'operation.ended' } } })
    expect(await frames.next()).toMatchObject({ value: { data: { event: 'run.completed' } } })
    expect(await frames.next()).toMatchObject({ value: { event: 'end' } })
    expect((await frames.next()).done).toBe(true)
  })

  it('shows one category, and tells in its comments how far it has looked', async () => {
    const brief = await serveEvents(test.ledger, { heartbeatMs: 20 })
    const stream = await openFrames(`${brief.url}/v1/runs/${run.runId}/events?category=run_lifecycle`)
    const reading = allFrames(stream)
    await run.emit(some(30))
    const seq = await run.seq()
    await until(() => stream.text(), { holds: (text) => text.includes(`: heartbeat\nid: ${seq}\n\n`) })
    await run.end()
    const shown = (await reading).map(({ data }) => Categorised.parse(data).category)
    expect(new Set(shown)).toEqual(new Set(['run_lifecycle', undefined])) // the end has none
    await brief.close()
  })

  it.for(['', '-1', 'abc', '1.5', '1e3', '9'.repeat(30)])('refuses the Last-Event-ID %j', async (id) => {
    const answer = await fetch(eventsOf(), { headers: { accept: 'text/event-stream', 'last-event-id': id } })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error_code: 'RUN_002' })
  })

  it('refuses an unknown run before it begins', async () => {
    const answer = await fetch(`${server.url}/v1/runs/r0000000000000/events`, {
      headers: { accept: 'text/event-stream' },
    })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error_code: 'RUN_001' })
  })

  it('refuses events that are lost before it begins', async () => {
    await run.emit(some(2_000))
    await test.redis.xtrim(`${test.namespace}:{${run.runId}}:events`, 'MINID', '=', '1001-0')
    const answer = await fetch(eventsOf(), { headers: { accept: 'text/event-stream' } })
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ error_code: 'STORE_003' })
  })
})

describe('a reader of a stream', () => {
  it('that connects again with the last id it has misses nothing and sees nothing twice', async () => {
    const seen: number[] = []
    const writing = (async () => {
      for (let batch = 0; batch < 30; batch += 1) await run.emit(some(20))
      await run.end()
    })()
    for (let isOver = false; !isOver;) {
      const last = seen.at(-1)
      const stream = await openFrames(eventsOf('?after=0'), last === undefined ? {} : { 'last-event-id': `${last}` })
      let left = 37
      for await (const { id, event } of stream.frames()) {
        isOver = event === 'end'
        if (!isOver) seen.push(id ?? 0)
        if ((left -= 1) === 0) break
      }
      stream.leave()
    }
    await writing
    expect(seen).toEqual(numbers(await run.seq()))
  })

  it('is one of fifty who all see each event once', async () => {
    await run.emit(some(20))
    const before = await run.seq()
    const streams = await Promise.all(Array.from({ length: 50 }, () => openFrames(eventsOf())))
    const received = streams.map((): (number | undefined)[] => [])
    const reading = streams.map(async (stream, at) => {
      for await (const { id, event } of stream.frames()) if (event !== 'end') received[at]?.push(id)
    })
    await until(() => received, { holds: (readers) => readers.every((ids) => ids.length === before) })
    for (let batch = 0; batch < 10; batch += 1) {
      await run.emit(some(15))
      await until(() => received, {
        holds: (readers) => readers.every((ids) => ids.length === before + 15 * (batch + 1)),
      })
    }
    await run.end()
    await Promise.all(reading)
    const seq = await run.seq()
    expect(received).toEqual(streams.map(() => numbers(seq)))
  })

  it('that stops reading holds nothing up and has nothing kept for it', async () => {
    const text = 'x'.repeat(8_000)
    const [answer]: IncomingMessage[] = await once(
      request(eventsOf(), { headers: { accept: 'text/event-stream' } }).end(),
      'response',
    )
    if (answer === undefined) throw new Error('no answer')
    answer.pause()
    const quick = await openFrames(eventsOf(`?after=${await run.seq()}`))
    const seen: unknown[] = []
    const reading = (async () => {
      for await (const { id } of quick.frames()) seen.push(id)
    })()
    const count = 2_500
    const before = await run.seq()
    for (let batch = 1; batch <= count / 100; batch += 1) {
      await run.emit(some(100, { text }))
      await until(() => seen, { holds: ({ length }) => length === 100 * batch })
    }
    // 20 MB are through. What of it the slow one was given is in the socket; the rest it now reads page by page.
    const read = server.source.events
    await run.end()
    answer.setEncoding('utf8')
    let body = ''
    for await (const chunk of answer) body += String(chunk)
    const ids = [...body.matchAll(/^id: (\d+)\ndata: \{"v"/gm)].map(([, id]) => Number(id))
    expect(ids).toEqual(numbers(before + count + 2))
    expect(server.source.events - read).toBeGreaterThan(0)
    await reading
  })

  it('rides out a store that is away', async () => {
    const stream = await openFrames(eventsOf(`?after=${await run.seq()}`))
    const frames = stream.frames()
    await run.emit(some(1))
    await frames.next()
    server.source.isAway = true
    await run.emit([anEvent({ data: { late: true } })])
    await until(() => server.source.refused, { holds: (count) => count > 0 })
    server.source.isAway = false
    expect(await frames.next()).toMatchObject({ value: { data: { data: { late: true } } } })
    stream.leave()
  })

  it('is no longer looked for when its client has gone', async () => {
    const other = await runningRun(test)
    const staying = await openFrames(`${server.url}/v1/runs/${other.runId}/events`)
    const going = await openFrames(eventsOf())
    await until(() => server.source.asked, {
      holds: (asked) => asked.filter((runId) => runId === run.runId).length > 2,
    })
    going.leave()
    await until(() => server.source.asked, {
      holds: (asked) => asked.slice(-8).every((runId) => runId === other.runId),
    })
    expect(server.source.refused).toBe(0)
    staying.leave()
  })
})

describe('a page that waits', () => {
  it('gets what comes, as do all that wait for the run', async () => {
    const after = await run.seq()
    const own = 7 // how many events these pages ask for, and nobody else does
    const asking = Array.from({ length: 20 }, () => fetch(eventsOf(`?after=${after}&limit=${own}&wait_ms=10000`)))
    await until(() => server.source.limits, {
      holds: (limits) => limits.filter((limit) => limit === own).length === asking.length,
    })
    await run.emit(some(3))
    for (const answer of await Promise.all(asking)) {
      expect(await answer.json()).toMatchObject({ next_after: after + 3, run_status: 'running', events: { length: 3 } })
    }
  })
})

describe('a service that stops', () => {
  it('ends its streams behind a whole frame, without an end of the run', async () => {
    const stream = await openFrames(eventsOf())
    const reading = allFrames(stream)
    await run.emit(some(500))
    await until(() => stream.text(), { holds: (text) => text.includes('id: 400\n') })
    await server.close()
    const frames = await reading
    expect(stream.text().endsWith('\n\n')).toBe(true)
    expect(frames.map(({ event }) => event)).not.toContain('end')
    expect(frames.map(({ id }) => id)).toEqual(numbers(frames.length))
  })
})
