import type { Event } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { delay } from '#platform/clock.ts'
import type { BenchStack } from '../remora/bench-stack.ts'
import { planRun, startRun } from '../remora/plan-run.ts'

/** A run's waits in ms from when it was ready to run, by Redis' clock: its own events say when things happened. */
export type SmallRun = { firstStartMs: number; lastStartMs: number; lastEndMs: number; succeeded: number }

const pollMs = 20
const limitMs = 300_000

/** Submits a run of `count` operations and waits until the last of them has ended. */
export async function measureSmallRun(stack: BenchStack, first: number, count: number): Promise<SmallRun> {
  const runId = await planRun(stack, first, count)
  await startRun(stack, runId)
  const deadline = performance.now() + limitMs
  while ((await stack.ledger.getRun(runId)).phase === 'execution') {
    if (performance.now() > deadline) throw new Error(`run ${runId} did not end within ${limitMs} ms`)
    await delay(pollMs)
  }
  const events = await eventsOf(stack, runId)
  const timesOf = (name: Event['event']) => events.filter(({ event }) => event === name).map(({ ts }) => ts)
  const readyAt = Math.max(...timesOf('run.planned'))
  const { counts } = await stack.ledger.getRun(runId)
  return {
    firstStartMs: Math.min(...timesOf('operation.started')) - readyAt,
    lastStartMs: Math.max(...timesOf('operation.started')) - readyAt,
    lastEndMs: Math.max(...timesOf('operation.ended')) - readyAt,
    succeeded: counts.succeeded,
  }
}

async function eventsOf({ ledger }: BenchStack, runId: RunId): Promise<Event[]> {
  const events: Event[] = []
  for (;;) {
    const page = await ledger.readEvents(runId, { after: events.at(-1)?.seq ?? 0, limit: 1000 })
    if (page.length === 0) return events
    events.push(...page)
  }
}
