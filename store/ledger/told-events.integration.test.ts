import { describe, expect, it } from 'vitest'
import type { ProjectId, RunId } from '#domain/ids.ts'
import { anEvent, aNewRun, aPlannedOperation, endRun, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { dyingAfter } from './dying-after.fixture.ts'
import { runKeys, toldKeys } from './keys.ts'
import { openLedger } from './ledger.ts'
import { forgetRun } from './retention.ts'

const test = useOpened(testLedger)
const hour = 3_600_000

/** A run whose events come when the test says so. */
async function aRun() {
  const runId = await test.executing([aPlannedOperation('one')])
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  let n = 0
  const emit = async (count = 2) =>
    void (await test.ledger.append(attempt, (n += 1), { events: Array.from({ length: count }, () => anEvent()) }))
  return { runId, emit, seq: async () => (await test.ledger.getRun(runId)).seq }
}

async function allRanges() {
  return (await test.ledger.readTold('default', { from: '-', limit: 10_000 })).ranges
}

/** The numbers of the events that were told of a run, in order. */
async function told(runId: RunId): Promise<number[]> {
  const ranges = (await allRanges()).filter((range) => range.runId === runId)
  return ranges.flatMap(({ first, last }) => numbers(first, last))
}

const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)

/** Tells of so many new runs, of one event each; returns the ids of their ranges. */
async function tellNew(count: number, projectId: ProjectId = 'default'): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) {
    const run = aNewRun({ projectId })
    await test.ledger.createRun(run)
    await test.ledger.tellEvents(run.runId)
    ids.push((await test.ledger.lastTold())?.id ?? '')
  }
  return ids
}

async function trimmedOf(projectId: ProjectId): Promise<string | null> {
  return (await test.ledger.readTold(projectId, { from: '-', limit: 1 })).trimmed
}

describe('events of a run', () => {
  it('are told once each, in order, by two who tell at the same time and twice', async () => {
    const run = await aRun()
    for (let times = 0; times < 20; times += 1) {
      const telling = [1, 2, 3].map(() => test.ledger.tellEvents(run.runId))
      await Promise.all([run.emit(), ...telling])
    }
    await Promise.all([test.ledger.tellEvents(run.runId), test.ledger.tellEvents(run.runId)])
    expect(await told(run.runId)).toEqual(numbers(1, await run.seq()))
    expect((await allRanges()).filter(({ first, last }) => first > last)).toEqual([])
  })

  it('are told in ranges that a page of the API has whole', async () => {
    const run = await aRun()
    for (let times = 0; times < 5; times += 1) await run.emit(500)
    expect(await test.ledger.tellEvents(run.runId)).toBe(await run.seq())
    expect(await told(run.runId)).toEqual(numbers(1, await run.seq()))
    const lengths = (await allRanges()).flatMap(({ runId, first, last }) =>
      runId === run.runId ? last - first + 1 : [],
    )
    expect(lengths).toEqual([1_000, 1_000, (await run.seq()) - 2_000])
  })

  it('are not told again by one who has read long ago how many there are', async () => {
    const run = await aRun()
    const { namespace } = test
    const read = await test.redis.hmget(runKeys(namespace, run.runId).run, 'schema', 'project', 'seq')
    const late = openLedger(Object.assign(Object.create(test.redis), { hmget: async () => read }), { namespace })
    await run.emit()
    await test.ledger.tellEvents(run.runId)
    const before = await allRanges()
    expect([await late.tellEvents(run.runId), await test.ledger.tellEvents(run.runId)]).toEqual([0, 0])
    expect(await allRanges()).toEqual(before)
  })

  it('are told once each when those who tell die, whatever step at', async () => {
    const run = await aRun()
    for (let last = 0; last < 4; last += 1) {
      const { namespace } = test
      const dying = openLedger(dyingAfter(test.redis, last), { namespace })
      await dying.tellEvents(run.runId).catch(() => undefined)
      await run.emit()
      await test.ledger.tellEvents(run.runId)
      expect(await told(run.runId)).toEqual(numbers(1, await run.seq()))
    }
  })

  it('leave nothing but what was told once the run is deleted', async () => {
    const runId = await test.executing([])
    await endRun(test.ledger, runId)
    await test.ledger.tellEvents(runId)
    const before = await told(runId)
    expect(await forgetRun(test, { projectId: 'default', runId })).toBe('forgotten')
    expect(await test.ledger.tellEvents(runId)).toBe(0)
    expect(await told(runId)).toEqual(before)
    expect(await test.redis.hexists(toldKeys(test.namespace).told, runId)).toBe(0)
  })
})

describe('ranges', () => {
  const { ranges: key } = toldKeys('')
  const stream = () => `${test.namespace}${key}`
  const ids = async () => (await allRanges()).map(({ id }) => id)

  it('stay until they are older than the retention and every group has acknowledged them', async () => {
    const [first = '', second = '', third = ''] = await tellNew(4)
    await test.redis.xgroup('CREATE', stream(), 'quick', '0')
    await test.redis.xgroup('CREATE', stream(), 'slow', '0')
    const read = async (group: string) =>
      void (await test.redis.xreadgroup('GROUP', group, 'one', 'COUNT', 1_000, 'STREAMS', stream(), '>'))
    const all = await ids()
    await read('quick')
    await test.redis.xack(stream(), 'quick', ...all)
    await test.ledger.trimTold({ most: 1_000, keepMs: 0 })
    expect(await ids()).toEqual(all) // of which the slow group has read nothing
    await read('slow')
    await test.redis.xack(stream(), 'slow', ...all.filter((id) => id !== second))
    await test.ledger.trimTold({ most: 1_000, keepMs: hour })
    expect(await ids()).toEqual(all)
    await test.ledger.trimTold({ most: 1_000, keepMs: 0 })
    expect(await ids()).toEqual(all.slice(all.indexOf(second)))
    expect(await trimmedOf('default')).toBe(`${first}.1`)
    await test.ledger.trimTold({ most: 2, keepMs: hour })
    expect(await ids()).toEqual(all.slice(-2))
    expect(await trimmedOf('default')).toBe(`${second}.1`)
    await test.redis.xack(stream(), 'slow', second)
    await test.ledger.trimTold({ most: 1, keepMs: hour })
    expect(await trimmedOf('default')).toBe(`${third}.1`)
    for (const group of ['quick', 'slow']) await test.redis.xgroup('DESTROY', stream(), group)
  })

  it('that were trimmed are known for each project, by any who trim at the same time, and the last one stays', async () => {
    const [mine = ''] = await tellNew(1)
    const [own = ''] = await tellNew(1, 'other')
    await tellNew(1_500, 'busy')
    await Promise.all([1, 2, 3].map(() => test.ledger.trimTold({ most: 1_000, keepMs: 0 })))
    expect((await ids()).length).toBe(1)
    expect([await trimmedOf('default'), await trimmedOf('other')]).toEqual([`${mine}.1`, `${own}.1`])
    expect(await trimmedOf('none')).toBeNull()
  })
})
