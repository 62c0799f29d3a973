import { signal } from '@preact/signals'
import type { Connection } from '#client/connection.ts'
import { pause } from '#client/timers.ts'
import type { Event } from '#client/wire.ts'
import type { OperationPage, OperationView } from '#schemas/operation-schema.ts'
import type { z } from 'zod'
import { type OperationRow, type OperationStatus, openOutcomeTree } from './outcome-tree.ts'
import { openRefresh } from './refresh.ts'
import type { RunFeed } from './run-feed.ts'

type Page = z.infer<typeof OperationPage>
export type OperationList = ReturnType<typeof openOperationList>

const pageSize = 500
const drawEveryMs = 300
const retryMs = 2_000

/**
 * Reads the operations of a run that still count, page after page, and keeps them as the events say, until `close`. `version` is another one
 * whenever something has changed.
 */
export function openOperationList(connection: Connection, runId: string, feed: RunFeed) {
  const closing = new AbortController()
  const rows = new Map<string, OperationRow>()
  const version = signal(0)
  const isWhole = signal(false)
  const error = signal<unknown>(undefined)
  const tree = openOutcomeTree()
  const draw = openRefresh(async () => void (version.value += 1), drawEveryMs, closing.signal)
  /** The cursor of the last page: more is planned behind it. */
  let cursor: string | undefined
  let isReading = false
  let isWanted = false

  function set(row: OperationRow): void {
    const before = rows.get(row.id)
    rows.set(row.id, row)
    tree.set(row, before)
    draw()
  }

  async function readPages(): Promise<void> {
    for (;;) {
      const query = { limit: pageSize, cursor }
      const path = `/v1/runs/${encodeURIComponent(runId)}/operations`
      const page = await connection.json<Page>(path, { query, signal: closing.signal })
      for (const operation of page.operations) if (operation.superseded_by === null) set(rowOf(operation))
      if (page.next === null) return
      cursor = page.next
    }
  }

  async function read(): Promise<void> {
    isWanted = true
    if (isReading) return
    isReading = true
    while (isWanted && !closing.signal.aborted) {
      isWanted = false
      try {
        await readPages()
        error.value = undefined
        isWhole.value = true
      } catch (fault) {
        if (closing.signal.aborted) return
        error.value = fault
        isWanted = true
        await pause(retryMs, closing.signal).catch(() => {})
      }
    }
    isReading = false
  }

  /** Forgets all: operations were planned once more, and those that they repeat do not count. */
  function begin(): void {
    tree.clear()
    rows.clear()
    cursor = undefined
    isWhole.value = false
    draw()
    void read()
  }

  function hear(event: Event): void {
    const known = event.operation_id === undefined ? undefined : rows.get(event.operation_id)
    const row = known && changedRow(known, event)
    if (row !== undefined) set(row)
    if (event.event === 'operations.repeated' || event.event === 'run.reopened') begin()
    if (event.event === 'run.planned' || event.event === 'item.started') void read()
  }

  const stop = [feed.onEvents((events) => events.forEach(hear)), feed.era.subscribe(() => begin())]
  return {
    rows,
    tree,
    version,
    isWhole,
    error,
    close() {
      closing.abort()
      for (const end of stop) end()
    },
  }
}

function rowOf({ operation_id: id, agent, node, status, outcome, ended_at: ended }: OperationView): OperationRow {
  return {
    id,
    agent,
    path: node.path,
    name: node.qualified_name,
    status,
    code: outcome?.error_code,
    durationMs: outcome?.duration_ms,
    tokens: outcome === null ? 0 : outcome.tokens.prompt + outcome.tokens.completion,
    endedAt: ended === null ? undefined : Date.parse(ended),
  }
}

const statusAfter: Readonly<Partial<Record<Event['event'], OperationStatus>>> = {
  'operation.queued': 'ready',
  'operation.started': 'running',
  'operation.retried': 'ready',
  'operation.suspended': 'waiting',
  'operation.resumed': 'ready',
}

const ends = ['succeeded', 'unchanged', 'skipped', 'failed', 'blocked', 'cancelled'] as const

/** Returns the row as it is after an event; undefined where the event says nothing of it. */
function changedRow(row: OperationRow, event: Event): OperationRow | undefined {
  const status = statusAfter[event.event]
  if (status !== undefined) return { ...row, status }
  if (event.event !== 'operation.ended' && event.event !== 'operation.skipped') return undefined
  const ended = ends.find((name) => name === event.data['status'])
  if (ended === undefined) return undefined
  const { tokens } = event.data
  return {
    ...row,
    status: ended,
    code: event.error_code ?? row.code,
    durationMs: event.duration_ms ?? row.durationMs,
    tokens: typeof tokens === 'number' ? tokens : row.tokens,
    endedAt: Date.parse(event.ts),
  }
}
