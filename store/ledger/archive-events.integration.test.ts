import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import type { Event } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { anOutcome, aPlannedOperation, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { anEvent } from '#testing/an-event.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import type { Attempt } from './attempt.ts'
import type { EventArchive } from './stored-events.ts'
import { runKeys } from './keys.ts'
import { openLedger, type Ledger } from './ledger.ts'

let test: TestLedger
let store: TestObjects
beforeAll(async () => {
  test = await testLedger()
  store = await testObjects()
})
afterAll(async () => {
  await test.close()
  await store.close()
})

const only = aPlannedOperation('only')
const project = 'default'

/** A ledger of its own memory, as another process has it. */
function ledgerOver(archive: EventArchive = openEventSegments(store.objects)): Ledger {
  return openLedger(test.redis, { namespace: test.namespace, archive })
}

/** A run of one running operation with `count` events. */
async function runOf(count: number): Promise<{ runId: RunId; attempt: Attempt }> {
  const runId = await test.executing([only])
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  const { seq } = await test.ledger.getRun(runId)
  for (let left = count - seq, n = 1; left > 0; left -= 500, n += 1) {
    const events = Array.from({ length: Math.min(500, left) }, (_, at) => anEvent({ data: { turn: n, calls: at } }))
    await test.ledger.append(attempt, n, { events })
  }
  return { runId, attempt }
}

async function readAll(ledger: Ledger, runId: RunId, limit: number): Promise<Event[]> {
  const all: Event[] = []
  for (;;) {
    const page = await ledger.readEvents(runId, { after: all.length, limit })
    all.push(...page)
    if (page.length < limit) return all
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const inStream = (runId: RunId) => test.redis.xlen(runKeys(test.namespace, runId).events)
const objectOf = (runId: RunId, first: number, last: number) => objectKeys.eventSegment(project, runId, { first, last })

describe('events that are moved to the archive', () => {
  it('are read with those in the stream as if nothing had been moved, in pages of any length', async () => {
    const { runId, attempt } = await runOf(5_500)
    const before = await readAll(test.ledger, runId, 1_000)
    expect(await ledgerOver().archiveEvents(runId, { keep: 500 })).toBe(5)
    expect(await inStream(runId)).toBe(500)
    for (const limit of [200, 999, 1_000, 2_345, 10_000])
      expect(await readAll(ledgerOver(), runId, limit)).toEqual(before)
    expect(before.map(({ seq }) => seq)).toEqual(numbers(5_500))

    const outcome = anOutcome()
    await ledgerOver().settle(attempt, 100, { outcome, events: [] })
    expect(await ledgerOver().verify(runId)).toEqual({ violations: [], events: 5_501, operations: 1 })
  })

  it('are those beyond the ones to keep, in whole segments, and no others', async () => {
    const { runId } = await runOf(3_499)
    expect(await ledgerOver().archiveEvents(runId)).toBe(0)
    expect(await ledgerOver().archiveEvents(runId, { keep: 1_500 })).toBe(1)
    expect(await inStream(runId)).toBe(2_499)
    expect(await ledgerOver().archiveEvents(runId, { keep: 1_500 })).toBe(0)
    expect(await store.objects.exists(objectOf(runId, 1, 1_000))).toBe(true)
    expect(await store.objects.exists(objectOf(runId, 1_001, 2_000))).toBe(false)
  })

  it('may be all there are: numbers go on behind them', async () => {
    const { runId, attempt } = await runOf(1_000)
    expect(await ledgerOver().archiveEvents(runId, { keep: 0 })).toBe(1)
    expect(await inStream(runId)).toBe(0)
    expect((await readAll(ledgerOver(), runId, 300)).map(({ seq }) => seq)).toEqual(numbers(1_000))
    await test.ledger.append(attempt, 100, { events: [anEvent()] })
    expect((await readAll(ledgerOver(), runId, 300)).map(({ seq }) => seq)).toEqual(numbers(1_001))
  })

  it('are JSON Lines in the shape of the API, also large ones', async () => {
    const { runId, attempt } = await runOf(900)
    const text = 'ß\n'.repeat(30_000)
    await test.ledger.append(attempt, 100, { events: [anEvent({ data: { text } })] })
    await test.ledger.append(attempt, 101, { events: Array.from({ length: 99 }, () => anEvent()) })
    await ledgerOver().archiveEvents(runId, { keep: 0 })
    const lines = Buffer.from(await store.objects.get(objectOf(runId, 1, 1_000)))
      .toString()
      .trimEnd()
      .split('\n')
    expect(lines).toHaveLength(1_000)
    expect(JSON.parse(lines[900] ?? '')).toMatchObject({
      seq: 901,
      run_id: runId,
      correlation_id: runId,
      data: { text },
    })
    const [event] = await ledgerOver().readEvents(runId, { after: 900, limit: 1 })
    expect(event?.data).toMatchObject({ text })
  })
})

describe('an archiver', () => {
  it('that dies between storing and trimming has lost nothing, and the next one stores the same again', async () => {
    const { runId } = await runOf(1_200)
    const archive = openEventSegments(store.objects)
    const killed = new Error('killed')
    const dying: EventArchive = {
      ...archive,
      async put(segment, events) {
        await archive.put(segment, events)
        throw killed
      },
    }
    await expect(ledgerOver(dying).archiveEvents(runId, { keep: 0 })).rejects.toMatchObject({ cause: killed })
    expect(await inStream(runId)).toBe(1_200)
    const stored = await store.objects.get(objectOf(runId, 1, 1_000))
    expect((await readAll(ledgerOver(), runId, 500)).map(({ seq }) => seq)).toEqual(numbers(1_200))
    expect(await ledgerOver().archiveEvents(runId, { keep: 0 })).toBe(1)
    expect(await store.objects.get(objectOf(runId, 1, 1_000))).toEqual(stored)
    expect(await inStream(runId)).toBe(200)
  })

  it('keeps the events when they cannot be stored', async () => {
    const { runId } = await runOf(1_000)
    const full = new AppError('STORE_002', 'full')
    const away: Pick<ObjectStore, 'get' | 'put'> = { ...store.objects, put: () => Promise.reject(full) }
    await expect(ledgerOver(openEventSegments(away)).archiveEvents(runId, { keep: 0 })).rejects.toBe(full)
    expect(await inStream(runId)).toBe(1_000)
  })

  it('may be one of several at once, while events are read', async () => {
    const { runId } = await runOf(4_100)
    const work = [0, 1, 2].map(() => ledgerOver().archiveEvents(runId, { keep: 100 }))
    const reading = Promise.all([200, 700].map((limit) => readAll(ledgerOver(), runId, limit)))
    await Promise.all(work)
    for (const events of await reading) expect(events.map(({ seq }) => seq)).toEqual(numbers(4_100))
    expect(await inStream(runId)).toBe(100)
    expect((await readAll(ledgerOver(), runId, 1_000)).map(({ seq }) => seq)).toEqual(numbers(4_100))
  })

  it('leaves what is behind a gap in the stream, where verify finds it', async () => {
    const { runId } = await runOf(2_100)
    await test.redis.xdel(runKeys(test.namespace, runId).events, '1500-0')
    expect(await ledgerOver().archiveEvents(runId, { keep: 0 })).toBe(1)
    expect(await inStream(runId)).toBe(1_099)
    const { violations } = await ledgerOver().verify(runId)
    expect(violations).toContainEqual({ invariant: 1, message: 'events 1500 to 1500 are missing' })
  })

  it('refuses an unknown run', async () => {
    const keys = runKeys(test.namespace, 'r00000000')
    await test.redis.xadd(keys.events, '1-0', 'm', 1, 'j', '{}')
    await expect(ledgerOver().archiveEvents('r00000000', { keep: -1_000 })).rejects.toMatchObject({ code: 'RUN_001' })
    await test.redis.del(keys.events)
  })
})

describe('a segment', () => {
  it('that is lost is reported by its numbers, never skipped, and verify finds it', async () => {
    const { runId } = await runOf(3_200)
    await ledgerOver().archiveEvents(runId, { keep: 200 })
    await store.objects.delete(objectOf(runId, 1_001, 2_000))
    const ledger = ledgerOver()
    expect(await ledger.readEvents(runId, { after: 0, limit: 1_000 })).toHaveLength(1_000)
    const missing = { code: 'STORE_003', message: 'events 1001 to 2000 are neither in the stream nor in the archive' }
    await expect(ledger.readEvents(runId, { after: 999, limit: 10 })).rejects.toMatchObject(missing)
    await expect(ledger.readEvents(runId, { after: 1_500, limit: 10 })).rejects.toMatchObject(missing)
    expect(await ledger.readEvents(runId, { after: 2_000, limit: 2_000 })).toHaveLength(1_200)
    const { violations, events } = await ledger.verify(runId)
    expect(violations).toContainEqual({ invariant: 1, message: missing.message })
    expect(events).toBe(2_200)
  })

  it('that the archive answers nothing from is lost, also behind events it has', async () => {
    const { runId } = await runOf(2_100)
    await ledgerOver().archiveEvents(runId, { keep: 100 })
    const archive = openEventSegments(store.objects)
    const forgetful = ledgerOver({
      ...archive,
      get: async (segment, page) => (segment.first > 1_000 ? [] : archive.get(segment, page)),
    })
    const missing = { code: 'STORE_003', message: 'events 1001 to 2000 are neither in the stream nor in the archive' }
    for (const after of [0, 1_500]) {
      await expect(forgetful.readEvents(runId, { after, limit: 2_000 })).rejects.toMatchObject(missing)
    }
  })

  it('that is damaged is no answer', async () => {
    const { runId } = await runOf(1_100)
    await ledgerOver().archiveEvents(runId, { keep: 0 })
    const key = objectOf(runId, 1, 1_000)
    const lines = Buffer.from(await store.objects.get(key))
      .toString()
      .split('\n')
    for (const damage of [lines.slice(1), lines.with(3, lines[4] ?? ''), lines.with(3, '{"seq":4}')]) {
      await store.objects.put(key, damage.join('\n'))
      const reading = ledgerOver().readEvents(runId, { after: 0, limit: 10 })
      await expect(reading).rejects.toMatchObject({ code: 'STORE_003' })
    }
  })

  it('cannot be read without an archive, which is said', async () => {
    const { runId } = await runOf(1_100)
    await ledgerOver().archiveEvents(runId, { keep: 0 })
    const reading = test.ledger.readEvents(runId, { after: 0, limit: 10 })
    await expect(reading).rejects.toMatchObject({ code: 'STORE_003' })
  })

  it('is fetched once while it is paged through, also by several readers', async () => {
    const { runId } = await runOf(1_100)
    await ledgerOver().archiveEvents(runId, { keep: 0 })
    const fetched: string[] = []
    const objects = { ...store.objects, get: (key: string) => (fetched.push(key), store.objects.get(key)) }
    const ledger = ledgerOver(openEventSegments(objects))
    await Promise.all([readAll(ledger, runId, 200), readAll(ledger, runId, 200)])
    expect(fetched).toEqual([objectOf(runId, 1, 1_000)])
  })
})
