import { expect, test } from 'vitest'
import type { Event } from '#client/wire.ts'
import { until } from '#testing/until.ts'
import { type EventPagesOptions, openEventPages } from './event-pages.ts'

function eventOf(seq: number): Event {
  return {
    v: 1,
    seq,
    ts: new Date(seq * 1000).toISOString(),
    project_id: 'p',
    run_id: 'r',
    event: seq % 10 === 0 ? 'operation.ended' : 'model.requested',
    category: seq % 10 === 0 ? 'worker_output' : 'worker_progress',
    phase: 'execution',
    status: 'ok',
    origin: { kind: 'worker', id: 'w' },
    correlation_id: 'r',
    data: {},
    ...(seq > 1 && { causation_seq: seq - 1 }),
  }
}

/** Makes a run with so many events, which are read as the API gives them: `limit` events that match, at most `scanned` looked at. */
function runOf(
  length: number,
  options: Partial<EventPagesOptions> & { scanned?: number; arriving?: Promise<void> } = {},
) {
  const { scanned = 1_000, arriving, ...rest } = options
  const run = { length, reads: 0 }
  const load = async (after: number) => {
    run.reads += 1
    const events: Event[] = []
    let at = after
    while (at < Math.min(run.length, after + scanned) && events.length < 200) {
      at += 1
      const event = eventOf(at)
      if (options.isFiltered !== true || event.category === 'worker_output') events.push(event)
    }
    await arriving
    return { events, next_after: at }
  }
  const pages = openEventPages({ load, isFiltered: false, onChange: () => {}, ...rest })
  return { run, pages }
}

test('reads the pages that are looked at, and no others', async () => {
  const { run, pages } = runOf(100_000)
  pages.grow(100_000)
  pages.show(50_000, 50_030)
  await until(() => pages.at(50_030)?.seq === 50_031)
  expect([run.reads, pages.kept(), pages.at(0)]).toEqual([1, 1, undefined])
})

test('keeps so many pages as it may, those that were looked at last', async () => {
  const { pages } = runOf(10_000, { mostPages: 3 })
  pages.grow(10_000)
  for (const first of [0, 1_000, 2_000, 3_000, 4_000]) {
    pages.show(first, first + 10)
    await until(() => pages.at(first) !== undefined)
  }
  expect(pages.kept()).toBe(3)
  expect(pages.at(0)).toBeUndefined()
  expect(pages.at(4_000)?.seq).toBe(4_001)
})

test('what happens now fills the last page, and begins another', async () => {
  const { run, pages } = runOf(199)
  pages.grow(199)
  pages.show(180, 198)
  await until(() => pages.at(198) !== undefined)
  pages.add([eventOf(200), eventOf(201)])
  expect([pages.count(), pages.at(199)?.seq, pages.at(200)?.seq, run.reads]).toEqual([201, 200, 201, 1])
})

test('reads a page again when events of it were not told', async () => {
  const { run, pages } = runOf(50)
  pages.grow(50)
  pages.show(0, 60)
  await until(() => pages.at(49) !== undefined)
  run.length = 60
  pages.add([eventOf(60)])
  await until(() => pages.at(59)?.seq === 60)
  expect(pages.at(55)?.seq).toBe(56)
})

test('an event that was read already is not there twice', async () => {
  const { pages } = runOf(50)
  pages.grow(50)
  pages.show(0, 49)
  await until(() => pages.at(49) !== undefined)
  pages.add([eventOf(50)])
  expect(pages.count()).toBe(50)
})

test('a filtered list is read as far as somebody scrolls, then to its end', async () => {
  const { pages } = runOf(10_000, { isFiltered: true, scanned: 300 })
  pages.show(0, 20)
  await until(() => pages.count() > 1)
  expect([pages.count(), pages.isAtEnd(), pages.at(3)?.seq]).toEqual([201, false, 40])
  for (let end = 0; !pages.isAtEnd(); end = pages.count()) {
    pages.show(Math.max(0, end - 20), end)
    await until(() => pages.isAtEnd() || pages.count() > end)
  }
  expect([pages.count(), pages.at(999)?.seq]).toEqual([1_000, 10_000])
})

test('what happens now is added to a filtered list at its end, once', async () => {
  const { run, pages } = runOf(1_995, { isFiltered: true })
  pages.show(0, 250)
  await until(() => pages.isAtEnd())
  expect(pages.count()).toBe(199)
  run.length = 2_010
  pages.add([eventOf(1_990), eventOf(2_000), eventOf(2_010)])
  expect([pages.count(), pages.at(199)?.seq, pages.at(200)?.seq]).toEqual([201, 2_000, 2_010])
})

test.each([false, true])(
  'what happens while the last page is read comes behind it (filtered: %s)',
  async (isFiltered) => {
    const arriving = Promise.withResolvers<void>()
    const { run, pages } = runOf(50, { isFiltered, arriving: arriving.promise })
    if (!isFiltered) pages.grow(50)
    pages.show(0, 100)
    await until(() => run.reads === 1)
    for (let seq = 51; seq <= 60; seq += 1) if (!isFiltered || seq === 60) pages.add([eventOf(seq)])
    arriving.resolve()
    await until(() => pages.isAtEnd() && pages.at(0) !== undefined)
    expect([pages.count(), pages.at(pages.count() - 1)?.seq]).toEqual([isFiltered ? 6 : 60, 60])
  },
)

test('what could not be read is tried again when asked for', async () => {
  const faults = [new Error('away')]
  const load = async () => {
    const fault = faults.pop()
    if (fault !== undefined) throw fault
    return { events: [eventOf(1)], next_after: 1 }
  }
  const pages = openEventPages({ load, isFiltered: false, onChange: () => {} })
  pages.grow(1)
  pages.show(0, 0)
  await until(() => pages.error() !== undefined)
  pages.retry()
  await until(() => pages.at(0) !== undefined)
  expect(pages.effectsOf(0)).toEqual([])
})

test('finds what follows from an event among what is here', async () => {
  const { pages } = runOf(20)
  pages.grow(20)
  pages.show(0, 19)
  await until(() => pages.at(19) !== undefined)
  expect(pages.effectsOf(7).map(({ seq }) => seq)).toEqual([8])
})
