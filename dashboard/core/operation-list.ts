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

/** Operations of a run that has more of them are read only for the tab that needs them. */
export const readUnasked = 2_000

const pageSize = 500
const drawEveryMs = 300
const retryMs = 2_000

/**
 * Reads the operations of a run that still count, page after page, and keeps them as the events say, until `close`. `version` is another one
 * whenever something has changed.
 */
export function openOperationList(connection: Connection, runId: string, feed: Pick<RunFeed, 'onEvents' | 'era'>) {
  const closing = new AbortController()
  const version = signal(0)
  const draw = openRefresh(async () => void (version.value += 1), drawEveryMs, closing.signal)
  const { rows, tree, get, set, follow, clear } = openRows(draw)
  const path = `/v1/runs/${encodeURIComponent(runId)}/operations`
  /** Were told while a page was on its way, which may know nothing of them. */
  let heard: Event[] = []
  const reader = openReader({
    load: async (cursor) => {
      heard = []
      return connection.json<Page>(path, { query: { limit: pageSize, cursor }, signal: closing.signal })
    },
    take({ operations }) {
      for (const operation of operations) if (operation.superseded_by === null) set(rowOf(operation))
      heard.forEach(follow)
    },
    signal: closing.signal,
  })

  /** Forgets all: events were left out, or operations were planned once more, and those that they repeat do not count. */
  function begin(): void {
    clear()
    reader.readAll()
  }

  function hear(event: Event): void {
    follow(event)
    if (reader.isReading()) heard.push(event)
    if (event.event === 'operations.repeated' || event.event === 'run.reopened') begin()
    if (event.event === 'run.planned' || event.event === 'item.started') reader.readMore()
  }

  const stop = [feed.onEvents((events) => events.forEach(hear)), feed.era.subscribe(() => begin())]
  return {
    rows,
    get,
    tree,
    version,
    isWhole: reader.isWhole,
    error: reader.error,
    close() {
      closing.abort()
      for (const end of stop) end()
    },
  }
}

/** Keeps operations in the order in which they came, in one array all the time, and folded into a tree. */
function openRows(onChange: () => void) {
  const kept: OperationRow[] = []
  const rows: readonly OperationRow[] = kept
  const places = new Map<string, number>()
  const tree = openOutcomeTree()
  const get = (id = '') => kept[places.get(id) ?? -1]
  function set(row: OperationRow): void {
    const place = places.get(row.id) ?? kept.length
    tree.set(row, kept[place])
    places.set(row.id, place)
    kept[place] = row
    onChange()
  }
  return {
    rows,
    tree,
    get,
    set,
    follow(event: Event): void {
      const known = get(event.operation_id)
      const row = known && changedRow(known, event)
      if (row !== undefined) set(row)
    },
    clear(): void {
      kept.length = 0
      places.clear()
      tree.clear()
      onChange()
    },
  }
}

type Reading = {
  load: (cursor: string | undefined) => Promise<Page>
  take: (page: Page) => void
  signal: AbortSignal
}

/** Reads one page after the other, and tries again what fails. */
function openReader({ load, take, signal: closing }: Reading) {
  const isWhole = signal(false)
  const error = signal<unknown>(undefined)
  /** Leads to the last page: more is planned behind it. */
  let cursor: string | undefined
  let [isReading, beginnings] = [false, 0]

  async function readPages(): Promise<void> {
    const mine = beginnings
    isReading = true
    try {
      for (;;) {
        const page = await load(cursor)
        if (mine !== beginnings) return
        take(page)
        error.value = undefined
        if (page.next === null) return void (isWhole.value = true)
        cursor = page.next
      }
    } catch (fault) {
      error.value = fault
      await pause(retryMs, closing)
      readMore()
    } finally {
      isReading = false
    }
  }

  const readMore = openRefresh(readPages, 0, closing)
  return {
    isWhole,
    error,
    isReading: () => isReading,
    readMore,
    readAll() {
      beginnings += 1
      cursor = undefined
      isWhole.value = false
      readMore()
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
