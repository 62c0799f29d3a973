import { signal } from '@preact/signals'
import { expect, onTestFinished, test } from 'vitest'
import { openConnection } from '#client/connection.ts'
import type { Event } from '#client/wire.ts'
import { until } from '#testing/until.ts'
import { openOperationList } from './operation-list.ts'

/** Opens the list of a run with one page, which was read when all of it ran and comes when the test says so. */
function openList() {
  const arriving = Promise.withResolvers<void>()
  const listeners: ((events: readonly Event[]) => void)[] = []
  const operations = ['one', 'two'].map((id) => ({
    operation_id: id,
    agent: 'lint',
    node: { path: 'a.py', qualified_name: id },
    status: 'running',
    outcome: null,
    ended_at: null,
    superseded_by: null,
  }))
  const connection = openConnection({
    url: 'http://service',
    fetch: async () => {
      await arriving.promise
      return Response.json({ operations, next: null })
    },
  })
  const list = openOperationList(connection, 'r', {
    era: signal(0),
    onEvents: (listener) => {
      listeners.push(listener)
      return () => {}
    },
  })
  onTestFinished(() => list.close())
  return { list, arrive: arriving.resolve, tell: (event: Event) => listeners.forEach((listener) => listener([event])) }
}

test('an operation that ends while its page is on its way has ended in the list', async () => {
  const { list, arrive, tell } = openList()
  tell({
    v: 1,
    seq: 9,
    ts: '2026-12-01T00:00:00.000Z',
    project_id: 'p',
    run_id: 'r',
    operation_id: 'two',
    event: 'operation.ended',
    category: 'failed',
    phase: 'execution',
    status: 'error',
    error_code: 'MODEL_003',
    origin: { kind: 'worker', id: 'w' },
    correlation_id: 'r',
    data: { status: 'failed' },
  })
  arrive()
  await until(() => list.isWhole.value)
  expect(list.rows.map(({ id, status, code }) => [id, status, code])).toEqual([
    ['one', 'running', undefined],
    ['two', 'failed', 'MODEL_003'],
  ])
})
