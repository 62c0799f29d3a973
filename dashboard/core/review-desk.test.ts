import { effect, signal } from '@preact/signals'
import { expect, test } from 'vitest'
import { openConnection } from '#client/connection.ts'
import type { Event, Run } from '#client/wire.ts'
import { until } from '#testing/until.ts'
import { openReviewDesk } from './review-desk.ts'
import { verdictOf } from './review-fold.ts'
import type { Link } from './run-feed.ts'

const idOf = (at: number) => `c${String(at).padStart(15, '0')}`
const listed = (at: number) => ({ change_set_id: idOf(at), verdict: 'pending', decision: null, is_redone: false })

function eventOf(event: Event['event'], seq: number, data: object): Event {
  const origin = { kind: 'human', id: 'eve' } as const
  const head = {
    v: 1,
    seq,
    ts: '2026-01-01T00:00:00.000Z',
    project_id: 'p',
    run_id: 'r1',
    correlation_id: 'r1',
  } as const
  return { ...head, event, category: 'decision', phase: 'review', status: 'ok', origin, data: { ...data } }
}

/** Opens the desk of a run whose list of change sets is answered by `answer`. */
function openDesk(answer: () => object | Promise<object>) {
  const listeners = new Set<(events: readonly Event[]) => void>()
  const feed = {
    run: signal<Run | undefined>(undefined),
    era: signal(0),
    link: signal<Link>({ kind: 'ended' }),
    onEvents(listener: (events: readonly Event[]) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const fetch = async () => Response.json(await answer())
  const connection = openConnection({ url: 'http://remora.test', fetch })
  const desk = openReviewDesk({ connection, runId: 'r1', feed, me: 'me' })
  const tell = (event: Event) => {
    for (const listener of listeners) listener([event])
  }
  return { desk, tell }
}

test('of 10,000 decisions that others make at once, the list is made anew a few times only', async () => {
  const changes = Array.from({ length: 10_000 }, (_, at) => listed(at))
  const { desk, tell } = openDesk(() => ({ changes, next: null }))
  await until(() => desk.list.value.kind === 'whole')
  let times = 0
  const stop = effect(() => void (desk.sets.value.size > 0 && (times += 1)))
  const data = { verdict: 'accepted', reason: null, decided_by_name: 'Eve' }
  for (let at = 0; at < 10_000; at += 1) {
    tell(eventOf('decision.made', at + 1, { ...data, change_set_id: idOf(at) }))
    if (at % 1_000 === 0) await Promise.resolve()
  }
  await until(() => [...desk.sets.value.values()].every((set) => verdictOf(set) === 'accepted'))
  expect(times).toBeLessThan(10)
  expect(desk.notice.value?.text).toContain('Eve accepted')
  stop()
  desk.close()
})

test('a change set that is made while the list is read is in it, or counted as new', async () => {
  const { promise, resolve } = Promise.withResolvers<object>()
  const pages = [{ changes: [listed(0)], next: '1' }, promise]
  const { desk, tell } = openDesk(() => pages.shift() ?? {})
  await until(() => desk.sets.value.size === 1)
  for (const at of [1, 2]) tell(eventOf('change_set.created', at, { change_set_id: idOf(at) }))
  resolve({ changes: [listed(1)], next: null })
  await until(() => desk.list.value.kind === 'whole')
  expect([desk.sets.value.size, desk.fresh.value]).toEqual([2, 1])
  desk.close()
})
