import { type Signal, signal } from '@preact/signals'
import type { Connection } from '#client/connection.ts'
import { readStream } from '#client/read-stream.ts'
import { pause } from '#client/timers.ts'
import type { RunPage, RunSummary } from '#schemas/run-schema.ts'
import type { z } from 'zod'
import { openRefresh } from './refresh.ts'
import { whileAwake } from './while-awake.ts'

type Page = z.infer<typeof RunPage>
export type ListedRuns = { runs: readonly RunSummary[]; hasOlder: boolean }

const pageSize = 50
const readEveryMs = 1_000
const retryMs = 2_000
/** Lists what changes a run in the list; what a model says does not. */
const categories = ['run_lifecycle', 'worker_output', 'decision', 'blocked', 'failed', 'escalation'] as const

export type RunsFeed = {
  list: Signal<ListedRuns | undefined>
  error: Signal<unknown>
  readOlder: () => void
  close: () => void
}

/** Keeps the list of runs as it is now, the newest first, until `close`: the stream of all runs says when to read it again. */
export function openRunsFeed(connection: Connection): RunsFeed {
  const closing = new AbortController()
  const list = signal<ListedRuns | undefined>(undefined)
  const error = signal<unknown>(undefined)
  let pages = 1

  async function read(): Promise<void> {
    const runs: RunSummary[] = []
    let before: string | undefined
    for (let page = 0; page < pages; page += 1) {
      const query = { limit: pageSize, before }
      const part = await connection.json<Page>('/v1/runs', { query, signal: closing.signal })
      runs.push(...part.runs)
      before = part.next ?? undefined
      if (before === undefined) break
    }
    list.value = { runs, hasOlder: before !== undefined }
    error.value = undefined
  }

  async function follow(signalOfSpell: AbortSignal): Promise<void> {
    while (!signalOfSpell.aborted) {
      try {
        for await (const frame of readStream(connection, '/v1/events', { categories, signal: signalOfSpell }))
          if (frame.type === 'connected') await read()
          else changed()
      } catch (fault) {
        if (signalOfSpell.aborted) return
        error.value = fault
        await pause(retryMs, signalOfSpell).catch(() => {})
      }
    }
  }

  const changed = openRefresh(read, readEveryMs, closing.signal)
  void whileAwake(follow, closing.signal)
  return {
    list,
    error,
    readOlder() {
      pages += 1
      changed()
    },
    close: () => closing.abort(),
  }
}
