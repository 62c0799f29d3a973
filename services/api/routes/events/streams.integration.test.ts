import { request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { anEvent } from '#testing/an-event.ts'
import { until } from '#testing/until.ts'
import type { Frame } from '#schemas/frame-schema.ts'
import { numbersOf, openFrames, wires } from './event-frames.fixture.ts'
import { runningRun, serveEvents, some, useEventServer } from './event-server.fixture.ts'

const events = useEventServer()
const { test, eventsOf } = events
const numbers = (count: number, after = 0) => Array.from({ length: count }, (_, index) => after + index + 1)

describe.each(Object.entries(wires))('the events of a run by a %s', (_, open) => {
  const allOf = async (url: string): Promise<Frame[]> => Array.fromAsync((await open(url)).frames())

  it('are all those of a run that has ended, then its end, and it is closed', async () => {
    await events.run.emit(some(700))
    await events.run.end()
    const seq = await events.run.seq()
    const frames = await allOf(eventsOf())
    expect(frames[0]).toEqual({ type: 'connected', seq, missed: seq })
    expect(numbersOf(frames)).toEqual(numbers(seq))
    expect(frames[5]).toMatchObject({ type: 'event', id: '5', event: { seq: 5, run_id: events.run.runId } })
    expect(frames.at(-1)).toEqual({ type: 'end', run_id: events.run.runId, status: 'completed' })
    expect(frames).toHaveLength(seq + 2)
  })

  it('come as they happen, and the end', async () => {
    const seq = await events.run.seq()
    const frames = (await open(eventsOf(`?after=${seq}`))).frames()
    expect(await frames.next()).toEqual({ done: false, value: { type: 'connected', seq, missed: 0 } })
    await events.run.emit([anEvent({ data: { first: 1 } })])
    expect(await frames.next()).toMatchObject({ value: { event: { data: { first: 1 } } } })
    await events.run.end()
    expect(await frames.next()).toMatchObject({ value: { event: { event: 'operation.ended' } } })
    expect(await frames.next()).toMatchObject({ value: { event: { event: 'run.completed' } } })
    expect(await frames.next()).toMatchObject({ value: { type: 'end' } })
    expect((await frames.next()).done).toBe(true)
  })

  it('are replayed from where the reader was', async () => {
    await events.run.emit(some(30))
    const seq = await events.run.seq()
    const frames = (await open(eventsOf(`?after=${seq - 5}`))).frames()
    expect(await frames.next()).toMatchObject({ value: { type: 'connected', seq, missed: 5 } })
    for (const number of numbers(5, seq - 5)) expect(await frames.next()).toMatchObject({ value: { id: `${number}` } })
  })

  it('are not guessed for a reader that was where the log is not: it is told to begin again', async () => {
    const seq = await events.run.seq()
    const last = `${seq}`
    expect(await allOf(eventsOf(`?after=${seq + 1}`))).toEqual([
      { type: 'resync', after: `${seq + 1}`, first: '1', last },
    ])
    await events.run.emit(some(10))
    const watchful = await serveEvents(test, { lookMs: 50 })
    const reading = allOf(eventsOf(`?after=${seq}`, watchful))
    await until(() => watchful.source.asked.length > 2)
    // As a failover to a replica that was behind does.
    await test.redis.hset(`${test.namespace}:{${events.run.runId}}:run`, 'seq', seq)
    expect((await reading).at(-1)).toEqual({ type: 'resync', after: `${seq + 10}`, first: '1', last })
    await watchful.close()
  })

  it('reach a reader that connects again and again once each', async () => {
    const seen: number[] = []
    const writing = (async () => {
      for (let batch = 0; batch < 30; batch += 1) await events.run.emit(some(20))
      await events.run.end()
    })()
    for (let isOver = false; !isOver;) {
      const reader = await open(eventsOf(`?after=${seen.at(-1) ?? 0}`))
      let left = 37
      for await (const frame of reader.frames()) {
        isOver = frame.type === 'end'
        seen.push(...numbersOf([frame]))
        if ((left -= 1) === 0) break
      }
      reader.leave()
    }
    await writing
    expect(seen).toEqual(numbers(await events.run.seq()))
  })

  it('reach each of fifty readers once', async () => {
    await events.run.emit(some(20))
    const before = await events.run.seq()
    const readers = await Promise.all(Array.from({ length: 50 }, () => open(eventsOf())))
    const received = readers.map((): number[] => [])
    const reading = readers.map(async (reader, at) => {
      for await (const frame of reader.frames()) received[at]?.push(...numbersOf([frame]))
    })
    await until(() => received, { holds: (all) => all.every(({ length }) => length === before) })
    for (let batch = 0; batch < 10; batch += 1) {
      await events.run.emit(some(15))
      const count = before + 15 * (batch + 1)
      await until(() => received, { holds: (all) => all.every(({ length }) => length === count) })
    }
    await events.run.end()
    await Promise.all(reading)
    const seq = await events.run.seq()
    expect(received).toEqual(readers.map(() => numbers(seq)))
  })

  it('go on when a store was away', async () => {
    const frames = (await open(eventsOf(`?after=${await events.run.seq()}`))).frames()
    await frames.next()
    await events.run.emit(some(1))
    await frames.next()
    events.server.source.isAway = true
    await events.run.emit([anEvent({ data: { late: true } })])
    await until(() => events.server.source.refused, { holds: (count) => count > 0 })
    events.server.source.isAway = false
    expect(await frames.next()).toMatchObject({ value: { event: { data: { late: true } } } })
  })

  it('cost nothing while nothing happens, and are not read when the last reader has gone', async () => {
    const other = await runningRun(test)
    const staying = await open(`${events.server.url}/v1/runs/${other.runId}/events?after=${await other.seq()}`)
    const frames = staying.frames()
    await frames.next()
    const going = await Promise.all(Array.from({ length: 5 }, () => open(eventsOf())))
    for (const reader of going) await reader.frames().next()
    const { source } = events.server
    const told = async () => {
      await other.emit(some(1))
      await frames.next()
    }
    await told()
    const ofRun = () => source.asked.filter((runId) => runId === events.run.runId).length
    const before = ofRun()
    for (let times = 0; times < 10; times += 1) await told()
    expect(ofRun()).toBe(before)
    for (const reader of going) reader.leave()
    await until(() => source.followed === 1)
    await events.run.emit(some(1))
    await told()
    expect(ofRun()).toBe(before)
    staying.leave()
  })

  it('stop behind a whole frame, without an end of the run, when the service stops', async () => {
    await events.run.emit(some(500))
    const reader = await open(eventsOf())
    const seen: Frame[] = []
    const reading = (async () => {
      for await (const frame of reader.frames()) seen.push(frame)
    })()
    await until(() => seen, { holds: ({ length }) => length > 400 })
    await events.server.close()
    await reading
    expect(reader.text()).toMatch(/^(?:[^]*\n\n)?$/)
    expect(seen.map(({ type }) => type)).not.toContain('end')
    expect(numbersOf(seen)).toEqual(numbers(seen.length - 1))
  })
})

describe('a stream', () => {
  it('has a number for each event, and asks to wait before it is opened again', async () => {
    await events.run.end()
    const stream = await openFrames(eventsOf())
    expect(stream).toMatchObject({ status: 200, contentType: 'text/event-stream' })
    await Array.fromAsync(stream.frames())
    expect(stream.text()).toMatch(
      /^retry: 2000\nevent: connected\ndata: \{"seq":\d+,"missed":\d+\}\n\nid: 1\ndata: \{"v":1,/,
    )
    expect(stream.text()).toMatch(new RegExp(`\n\nid: ${await events.run.seq()}\nevent: end\ndata: .*\n\n$`))
  })

  it('goes on behind the id of the header, whatever its address says', async () => {
    const frames = (await openFrames(eventsOf('?after=0'), { 'last-event-id': `${await events.run.seq()}` })).frames()
    expect(await frames.next()).toMatchObject({ value: { type: 'connected', missed: 0 } })
  })

  it('shows the categories that are asked for, and tells in its comments how far it has looked', async () => {
    const brief = await serveEvents(test, { heartbeatMs: 20 })
    const stream = await openFrames(eventsOf('?category=run_lifecycle,worker_output', brief))
    const reading = Array.fromAsync(stream.frames())
    await events.run.emit(some(30))
    const seq = await events.run.seq()
    await until(() => stream.text(), { holds: (text) => text.includes(`: heartbeat\nid: ${seq}\n\n`) })
    await events.run.end()
    const shown = (await reading).flatMap((frame) => (frame.type === 'event' ? [frame.event.category] : []))
    expect(new Set(shown)).toEqual(new Set(['run_lifecycle', 'worker_output']))
    await brief.close()
  })

  it.for(['', '-1', 'abc', '1.5', '1e3', '9'.repeat(30)])('refuses the Last-Event-ID %j', async (id) => {
    const answer = await fetch(eventsOf(), { headers: { accept: 'text/event-stream', 'last-event-id': id } })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error_code: 'RUN_002' })
  })

  it('refuses an unknown run before it begins', async () => {
    const answer = await fetch(`${events.server.url}/v1/runs/r0000000000000/events`, {
      headers: { accept: 'text/event-stream' },
    })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error_code: 'RUN_001' })
  })

  it('refuses events that are lost before it begins', async () => {
    await events.run.emit(some(2_000))
    await test.redis.xtrim(`${test.namespace}:{${events.run.runId}}:events`, 'MINID', '=', '1001-0')
    const answer = await fetch(eventsOf(), { headers: { accept: 'text/event-stream' } })
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ error_code: 'STORE_003' })
  })

  it('that stops reading holds nothing up and has nothing kept for it', async () => {
    const text = 'x'.repeat(8_000)
    const [answer]: IncomingMessage[] = await once(
      request(eventsOf(), { headers: { accept: 'text/event-stream' } }).end(),
      'response',
    )
    if (answer === undefined) throw new Error('no answer')
    answer.pause()
    const quick = await openFrames(eventsOf(`?after=${await events.run.seq()}`))
    const seen: number[] = []
    const reading = (async () => {
      for await (const frame of quick.frames()) seen.push(...numbersOf([frame]))
    })()
    const count = 2_500
    const before = await events.run.seq()
    for (let batch = 1; batch <= count / 100; batch += 1) {
      await events.run.emit(some(100, { text }))
      await until(() => seen, { holds: ({ length }) => length === 100 * batch })
    }
    // 20 MB are through. What of it the slow one was given is in the socket; the rest it now reads page by page.
    const read = events.server.source.events
    await events.run.end()
    answer.setEncoding('utf8')
    let body = ''
    for await (const chunk of answer) body += String(chunk)
    const ids = [...body.matchAll(/^id: (\d+)\ndata: \{"v"/gm)].map(([, id]) => Number(id))
    expect(ids).toEqual(numbers(before + count + 2))
    expect(events.server.source.events - read).toBeGreaterThan(0)
    await reading
  })

  it('that takes nothing for too long is cut, and nobody else', async () => {
    const strict = await serveEvents(test, { stuckMs: 200 })
    const [answer]: IncomingMessage[] = await once(
      request(eventsOf('', strict), { headers: { accept: 'text/event-stream' } }).end(),
      'response',
    )
    answer?.pause()
    const quick = await openFrames(eventsOf(`?after=${await events.run.seq()}`, strict))
    const seen: Frame[] = []
    const reading = (async () => {
      for await (const frame of quick.frames()) seen.push(frame)
    })()
    for (let batch = 0; batch < 10; batch += 1) await events.run.emit(some(100, { text: 'x'.repeat(8_000) }))
    await until(() => strict.lines.some((line) => line.includes('reader of events cut')))
    await events.run.end()
    await reading
    expect(seen.at(-1)).toMatchObject({ type: 'end' })
    await expect(Array.fromAsync(answer ?? [])).rejects.toThrow('aborted')
    await strict.close()
  })
})

describe('a page', () => {
  it('that begins past the last event is refused', async () => {
    const answer = await fetch(eventsOf(`?after=${(await events.run.seq()) + 1}`))
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error_code: 'RUN_002' })
  })
})
