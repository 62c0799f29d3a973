import type { z } from 'zod'
import { ChangePage, type ChangeView } from '#schemas/change-schema.ts'
import { EventPage, type EventView } from '#schemas/event-schema.ts'
import { OperationPage, type OperationView } from '#schemas/operation-schema.ts'
import { RunAccepted, RunView } from '#schemas/run-schema.ts'
import { until } from '#testing/until.ts'
import { pages, type PageStart } from '../cli/api-lists.ts'

// A client of the HTTP API like any other program. The schemas are strict: an answer with anything that is not declared fails.

export type RunEvent = EventView

export type RunApi = {
  ask(path: string, init?: RequestInit): Promise<Response>
  submit(archive: Uint8Array, request: object): Promise<string>
  /** One page of events after `after`, as far as they have happened. */
  events(runId: string, after: number, limit?: number): Promise<EventPage>
  /** Every event from the first to the run's end, page by page. */
  follow(runId: string): Promise<{ events: RunEvent[]; status: string }>
  run(runId: string): Promise<RunView>
  operations(runId: string): Promise<OperationView[]>
  changes(runId: string): Promise<ChangeView[]>
}

const endings = ['completed', 'failed', 'blocked', 'cancelled']

export function openRunApi({ url, token }: { url: string; token: string }): RunApi {
  const ask: RunApi['ask'] = (path, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${token}`)
    return fetch(`${url}${path}`, { ...init, headers })
  }
  const get = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    const answer = await ask(path)
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text}`)
    return schema.parse(JSON.parse(text))
  }
  const events: RunApi['events'] = (runId, after, limit = 50) =>
    get(`/v1/runs/${runId}/events?after=${after}&limit=${limit}`, EventPage)
  return {
    ask,
    events,
    async submit(archive, request) {
      const form = new FormData()
      form.set('request', JSON.stringify(request))
      form.set('archive', new Blob([new Uint8Array(archive)]), 'source.tar.gz')
      const answer = await ask('/v1/runs', { method: 'POST', body: form })
      const text = await answer.text()
      if (answer.status !== 202) throw new Error(`POST /v1/runs answered ${answer.status}: ${text}`)
      return RunAccepted.parse(JSON.parse(text)).run_id
    },
    follow: (runId) => followTo(runId, events),
    run: (runId) => get(`/v1/runs/${runId}`, RunView),
    operations(runId) {
      const read = (from: PageStart) => get(`/v1/runs/${runId}/operations?${pageQuery(from)}`, OperationPage)
      return Array.fromAsync(pages('operations', read))
    },
    changes(runId) {
      const read = (from: PageStart) => get(`/v1/runs/${runId}/changes?${pageQuery(from)}`, ChangePage)
      return Array.fromAsync(pages('changes', read))
    },
  }
}

async function followTo(runId: string, read: RunApi['events']): Promise<{ events: RunEvent[]; status: string }> {
  const events: RunEvent[] = []
  for (let after = 0; ;) {
    const page = await until(() => read(runId, after), { holds: isNews, withinMs: 150_000 })
    events.push(...page.events)
    after = page.next_after
    if (page.events.length === 0 && endings.includes(page.run_status)) return { events, status: page.run_status }
  }
}

function isNews({ events, run_status: status }: EventPage): boolean {
  return events.length > 0 || endings.includes(status)
}

/** Pages of three: a small run has several. */
function pageQuery({ cursor }: PageStart): string {
  return cursor === undefined ? 'limit=3' : `limit=3&cursor=${encodeURIComponent(cursor)}`
}
