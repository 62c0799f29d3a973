import { signal } from '@preact/signals'
import { type Connection, NoAnswer, RemoraProblem } from '#client/connection.ts'
import { readStream } from '#client/read-stream.ts'
import { pause } from '#client/timers.ts'
import type { Event, EventCategory, Run } from '#client/wire.ts'
import type { z } from 'zod'
import type { ChangePage } from '#schemas/change-schema.ts'
import { type MadeDecision, decisionIn, type ReviewedSets, withDecision, withListed } from './review-fold.ts'
import { whileAwake } from './while-awake.ts'
import { deciderOf, nameOfChange } from './review-words.ts'

export function isEndedRun(run: Run | undefined): boolean {
  return typeof run?.ended_at === 'string'
}

/** Is said at the foot of the page; `link` leads elsewhere, `about` is the change that it is about. */
export type Notice = { text: string; tone: 'good' | 'warn' | 'bad' | 'quiet'; link?: string; about?: string }

/** How far the list of change sets was read. */
export type ListState = { kind: 'reading' } | { kind: 'whole' } | { kind: 'failed'; error: unknown }

export type ReviewDesk = ReturnType<typeof openReviewDesk>

const pageSize = 100
const retryMs = 2_000
/** Decisions and pull requests come after the end of a run, when its own stream has ended: so it is the stream of the project that is read. */
const path = '/v1/events'
const categories: readonly EventCategory[] = ['decision', 'worker_output', 'run_lifecycle', 'failed']

/** Knows the change sets of a run, and follows what becomes of them until `close`. `me` is the id of the page's token. */
export function openReviewDesk(connection: Connection, runId: string, me: string) {
  const closing = new AbortController()
  const runPath = `/v1/runs/${encodeURIComponent(runId)}`
  const state = {
    run: signal<Run | undefined>(undefined),
    sets: signal<ReviewedSets>(new Map()),
    list: signal<ListState>({ kind: 'reading' }),
    /** Counts the change sets that were made since the list was read. */
    fresh: signal(0),
    notice: signal<Notice | undefined>(undefined),
  }
  const readRun = async () => {
    state.run.value = await connection.json<Run>(runPath, { signal: closing.signal })
  }
  const list = openList(connection, { runPath, signal: closing.signal, state })
  const take = (event: Event) => {
    const decision = decisionIn(event)
    if (decision !== undefined) takeDecision(decision, { me, state })
    if (event.event === 'change_set.created' && state.list.value.kind === 'whole') state.fresh.value += 1
    // A run that ends has composed its patch: it is known now what collides.
    if (event.event === 'run.completed' || event.event === 'run.reopened' || event.event === 'run.failed')
      void list.read()
    if (event.category === 'run_lifecycle' || event.event === 'publication.failed') void readRun().catch(() => {})
    state.notice.value = publicationNotice(event) ?? state.notice.value
  }
  const whenConnected = (isAnew: boolean) => {
    void readRun().catch(() => {})
    if (isAnew || state.list.value.kind === 'failed') void list.read()
  }
  void whileAwake(follower({ connection, runId, take, whenConnected }), closing.signal)
  return { ...state, connection, runId, runPath, me, readAgain: list.read, close: () => closing.abort() }
}

type DeskState = Pick<ReviewDesk, 'run' | 'sets' | 'list' | 'fresh' | 'notice'>

/** Reads the list page by page; asked for again meanwhile, it is read again after that. */
function openList(
  connection: Connection,
  { runPath, signal: closing, state }: { runPath: string; signal: AbortSignal; state: DeskState },
) {
  let isReading = false
  let isWanted = false
  const readPages = async () => {
    state.fresh.value = 0
    for (let cursor: string | undefined; ;) {
      const query = { limit: pageSize, cursor }
      const page = await connection.json<z.infer<typeof ChangePage>>(`${runPath}/changes`, { query, signal: closing })
      state.sets.value = withListed(state.sets.value, page.changes)
      if (page.next === null) return
      cursor = page.next
    }
  }
  return {
    async read(): Promise<void> {
      isWanted = true
      if (isReading) return
      isReading = true
      state.list.value = { kind: 'reading' }
      try {
        while (isWanted) {
          isWanted = false
          await readPages()
        }
        state.list.value = { kind: 'whole' }
      } catch (error) {
        if (!closing.aborted) state.list.value = { kind: 'failed', error }
      }
      isReading = false
    },
  }
}

type Following = {
  connection: Connection
  runId: string
  take: (event: Event) => void
  /** `isAnew`: what happened before is not told again. */
  whenConnected: (isAnew: boolean) => void
}

/** Returns what follows the events of a run, also after its end; called again, it goes on where it stopped. */
function follower({ connection, runId, take, whenConnected }: Following): (spell: AbortSignal) => Promise<void> {
  let after: string | undefined
  return async (spell) => {
    while (!spell.aborted) {
      try {
        for await (const frame of readStream(connection, path, { after, categories, signal: spell })) {
          if (frame.type === 'connected') {
            whenConnected(after === undefined)
            after ??= frame.id
          }
          if (frame.type === 'resync') after = undefined
          if (frame.type !== 'event') continue
          after = frame.id
          if (frame.event.run_id === runId) take(frame.event)
        }
      } catch (error) {
        if (spell.aborted) return
        if (!(error instanceof NoAnswer) && !(error instanceof RemoraProblem)) throw error
        await pause(retryMs, spell).catch(() => {})
      }
    }
  }
}

/** Shows what somebody has decided, and says so where it was not this page's own token. */
function takeDecision(made: MadeDecision, { me, state }: { me: string; state: DeskState }): void {
  const before = state.sets.value
  state.sets.value = withDecision(before, made)
  const set = state.sets.value.get(made.id)
  const who = deciderOf(made.decision, me)
  if (set === undefined || set === before.get(made.id) || who === 'you') return
  const { verdict } = made.decision
  const what = verdict === 'pending' ? 'took back the decision on' : verdict
  state.notice.value = { text: `${who} ${what} ${nameOfChange(set.change)}`, tone: 'quiet', about: made.id }
}

function publicationNotice({ event, data }: Event): Notice | undefined {
  const { url, reason, error_code: code } = data
  if (event === 'publication.opened' && typeof url === 'string')
    return { text: 'The pull request is open:', tone: 'good', link: url }
  if (event === 'publication.failed') return { text: `Not published: ${String(reason)} (${String(code)})`, tone: 'bad' }
  return undefined
}
