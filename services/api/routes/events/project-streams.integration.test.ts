import { describe, expect, it } from 'vitest'
import { aNewRun, endRun } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import type { Frame } from '#schemas/frame-schema.ts'
import { openRetention } from '#store/ledger/retention.ts'
import { numbersOf, openFrames, wires } from './event-frames.fixture.ts'
import { runningRun, type RunningRun, serveEvents, some, useEventServer } from './event-server.fixture.ts'

const events = useEventServer()
const { test } = events

const allEvents = (query = '', { url } = events.server) => `${url}/v1/events${query}`
const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** Has more events, of which those who follow all runs are told. */
async function emit(run: RunningRun, count: number): Promise<void> {
  await run.emit(some(count))
  await test.ledger.tellEvents(run.runId)
}

/** A run of another project, whose events are told. */
async function foreignRun(): Promise<string> {
  const run = aNewRun({ projectId: 'other' })
  await test.ledger.createRun(run)
  await test.ledger.tellEvents(run.runId)
  return run.runId
}

async function trim(most: number): Promise<void> {
  await test.ledger.trimTold({ most, keepMs: 3_600_000 })
}

/** Reads frames up to the given number of events. */
async function upTo(count: number, frames: AsyncGenerator<Frame>): Promise<Frame[]> {
  const read: Frame[] = []
  while (numbersOf(read).length < count) {
    const { value, done } = await frames.next()
    if (done === true) break
    read.push(value)
  }
  return read
}

const eventsIn = (frames: readonly Frame[]) => frames.flatMap((frame) => (frame.type === 'event' ? [frame] : []))
const numbersBy = (frames: readonly Frame[], runId: string) =>
  eventsIn(frames).flatMap(({ event }) => (event.run_id === runId ? [event.seq] : []))

/** Returns the first frame of a stream, which says what became of its position. */
async function firstFrame(query = ''): Promise<Frame> {
  const stream = await openFrames(allEvents(query))
  const { value } = await stream.frames().next()
  stream.leave()
  return value
}

const endOfNow = async () => idOf([await firstFrame()])
const missedOf = (frame: Frame) => (frame.type === 'connected' ? frame.missed : -1)

describe.each(Object.entries(wires))('the events of all runs by a %s', (_, open) => {
  it('are those of each run of the project in order as they happen, and of no other project', async () => {
    const other = await runningRun(test)
    await emit(other, 1)
    const seq = await other.seq()
    const frames = (await open(allEvents())).frames()
    expect(await frames.next()).toEqual({
      done: false,
      value: { type: 'connected', id: expect.any(String), missed: 0 },
    })
    const foreign = await foreignRun()
    await emit(other, 3)
    await emit(events.run, 300)
    await emit(other, 2)
    const mine = await events.run.seq()
    const read = await upTo(mine + 5, frames)
    expect(numbersBy(read, events.run.runId)).toEqual(numbers(1, mine))
    expect(numbersBy(read, other.runId)).toEqual(numbers(seq + 1, seq + 5))
    expect(JSON.stringify(read)).not.toContain(foreign)
  })

  it('reach a reader that connects again and again, within what was told together too, once each', async () => {
    const first = await open(allEvents())
    const { value: connected } = await first.frames().next()
    first.leave()
    const writing = (async () => {
      for (let batch = 0; batch < 10; batch += 1) {
        await emit(events.run, 50)
        await foreignRun()
      }
    })()
    const seen: Frame[] = [connected]
    const count = (await events.run.seq()) + 500
    while (numbersOf(seen).length < count) {
      const reader = await open(allEvents(`?after=${idOf(seen)}`))
      seen.push(...eventsIn(await upTo(Math.min(37, count - numbersOf(seen).length), reader.frames())))
      reader.leave()
    }
    await writing
    expect(numbersBy(seen, events.run.runId)).toEqual(numbers(1, count))
  })

  it('begin, when asked, with the first that there is, and count those that were missed', async () => {
    await trim(1)
    const before = missedOf(await firstFrame('?after=0'))
    await emit(events.run, 20)
    const count = before + (await events.run.seq())
    const read = await upTo(count, (await open(allEvents('?after=0'))).frames())
    expect(read[0]).toMatchObject({ type: 'connected', missed: count })
    expect(eventsIn(read)).toHaveLength(count)
  })

  it('go on without those of a run that is deleted', async () => {
    const start = await endOfNow()
    const doomed = await test.executing([])
    await endRun(test.ledger, doomed)
    await test.ledger.tellEvents(doomed)
    await emit(events.run, 2)
    await openRetention(test.redis, test.namespace).forgetRun({ projectId: 'default', runId: doomed })
    const read = await upTo(await events.run.seq(), (await open(allEvents(`?after=${start}`))).frames())
    expect(new Set(eventsIn(read).map(({ event }) => event.run_id))).toEqual(new Set([events.run.runId]))
    expect(events.server.lines.join('')).not.toContain('left out')
  })

  it('are not guessed for a reader whose position is past what is kept: it is told to begin again, and no other', async () => {
    await emit(events.run, 5)
    const last = await endOfNow()
    const first = last.replace(/\d+$/, '1') // within what was told together
    await foreignRun()
    await foreignRun()
    await trim(1) // of which the reader that has read all has missed nothing
    const outcome = async (after: string) => (await (await open(allEvents(`?after=${after}`))).frames().next()).value
    expect(await outcome(last)).toEqual({ type: 'connected', id: last, missed: 0 })
    const resync = await Array.fromAsync((await open(allEvents(`?after=${first}`))).frames())
    expect(resync).toEqual([{ type: 'resync', after: first, first: expect.any(String), last: expect.any(String) }])
    await emit(events.run, 1)
    const ahead = '9999999999999-0.1'
    expect(await outcome(ahead)).toMatchObject({ type: 'resync', after: ahead })
    expect(await outcome(last)).toMatchObject({ type: 'connected', missed: 1 })
  })

  it('are not passed over in silence when they were trimmed before they could be read', async () => {
    const frames = (await open(allEvents())).frames()
    await frames.next()
    events.server.source.isAway = true
    await emit(events.run, 1)
    await emit(events.run, 1)
    await until(() => events.server.source.refused, { holds: (count) => count > 0 })
    await trim(1)
    events.server.source.isAway = false
    expect(await Array.fromAsync(frames)).toMatchObject([{ type: 'resync', first: '0' }])
  })

  it('go on when a store was away', async () => {
    const frames = (await open(allEvents())).frames()
    await frames.next()
    events.server.source.isAway = true
    await emit(events.run, 1)
    await until(() => events.server.source.refused, { holds: (count) => count > 0 })
    events.server.source.isAway = false
    expect(numbersOf(await upTo(await events.run.seq(), frames))).toEqual(numbers(1, await events.run.seq()))
  })

  it('cost nothing while nothing happens in the project', async () => {
    const readers = await Promise.all(Array.from({ length: 20 }, () => open(allEvents())))
    const frames = readers.map((reader) => reader.frames())
    for (const each of frames) await each.next()
    await emit(events.run, 1)
    const seq = await events.run.seq()
    for (const each of frames) await upTo(seq, each)
    const { source } = events.server
    await foreignRun()
    await emit(events.run, 1)
    const before = source.told
    await frames[0]?.next()
    for (let times = 0; times < 5; times += 1) await foreignRun()
    expect(source.told).toBeLessThanOrEqual(before + 2) // what the one event took
    for (const reader of readers) reader.leave()
    await until(() => source.followed === 0)
  })
})

function idOf(frames: readonly Frame[]): string {
  const last = frames.findLast((frame) => frame.type === 'event' || frame.type === 'connected' || frame.type === 'ping')
  return (last !== undefined && 'id' in last ? last.id : undefined) ?? ''
}

it.for(['5', 'first', '-1', '1-1.x', `${'9'.repeat(20)}-0.1`])(
  'a stream of all runs that begins behind %j is refused',
  async (after) => {
    const answer = await fetch(allEvents(`?after=${after}`))
    expect([answer.status, await answer.json()]).toMatchObject([400, { error_code: 'RUN_002' }])
  },
)

it('a stream of all runs tells in its comments how far it has looked, also past other categories', async () => {
  const brief = await serveEvents(test, { heartbeatMs: 20 })
  const stream = await openFrames(allEvents('?category=finding', brief))
  const reading = Array.fromAsync(stream.frames())
  await emit(events.run, 5)
  const end = await endOfNow()
  await until(() => stream.text(), { holds: (text) => text.includes(`: heartbeat\nid: ${end}\n\n`) })
  await brief.close()
  expect((await reading).map(({ type }) => type)).toEqual(['connected'])
})
