import { effect, signal } from '@preact/signals'
import type { Connection } from '#client/connection.ts'
import type { Event, Run } from '#client/wire.ts'
import type { z } from 'zod'
import type { ChangePage } from '#schemas/change-schema.ts'
import { type MadeDecision, decisionIn, type ReviewedSets, withDecisions, withListed } from './review-fold.ts'
import { deciderOf, nameOfChange } from './review-words.ts'
import { openRefresh } from './refresh.ts'
import type { RunFeed } from './run-feed.ts'

export function isEndedRun(run: Run | undefined): boolean {
  return typeof run?.ended_at === 'string'
}

/** Is said at the foot of the page; `link` leads elsewhere, `about` is the change that it is about. */
export type Notice = { text: string; tone: 'good' | 'warn' | 'bad' | 'quiet'; link?: string; about?: string }

/** Says how far the list of change sets was read. */
export type ListState = { kind: 'reading' } | { kind: 'whole' } | { kind: 'failed'; error: unknown }

export type ReviewDesk = ReturnType<typeof openReviewDesk>

const pageSize = 100

type FeedOfDesk = Pick<RunFeed, 'run' | 'era' | 'link' | 'onEvents'>
type DeskOptions = { connection: Connection; runId: string; feed: FeedOfDesk; me: string }

/** What others decide is shown at most this often: each time costs the more, the more change sets there are. */
const decisionsEveryMs = 100

/** Knows the change sets of a run, and what becomes of them by its feed, until `close`. `me` is the id of the page's token. */
export function openReviewDesk({ connection, runId, feed, me }: DeskOptions) {
  const closing = new AbortController()
  const runPath = `/v1/runs/${encodeURIComponent(runId)}`
  const state = {
    sets: signal<ReviewedSets>(new Map()),
    list: signal<ListState>({ kind: 'reading' }),
    /** Counts the change sets that were made and are not listed. */
    fresh: signal(0),
    notice: signal<Notice | undefined>(undefined),
    /** Somebody has asked here for the pull request, of which nothing is known since. */
    isPullAsked: signal(false),
  }
  const list = openList(connection, { runPath, signal: closing.signal, state })
  let made: MadeDecision[] = []
  const decided = openRefresh(
    async () => {
      takeDecisions(made, { me, state })
      made = []
    },
    decisionsEveryMs,
    closing.signal,
  )
  const take = (event: Event) => {
    const decision = decisionIn(event)
    if (decision !== undefined) {
      made.push(decision)
      decided()
    }
    if (event.event === 'change_set.created') list.expect(String(event.data['change_set_id']))
    // A run that ends has composed its patch: it is known now what collides.
    if (readAgainAfter.has(event.event)) void list.read()
    state.notice.value = publicationNotice(event) ?? state.notice.value
    if (event.event.startsWith('publication.')) state.isPullAsked.value = false
  }
  const ignore = feed.onEvents((events) => events.forEach(take))
  let era: number | undefined
  const stop = effect(() => {
    const [isOther, isThere] = [feed.era.value !== era, feed.link.value.kind !== 'broken']
    era = feed.era.value
    if (isOther || (isThere && state.list.peek().kind === 'failed')) void list.read()
  })
  const close = () => {
    stop()
    ignore()
    closing.abort()
  }
  return { ...state, run: feed.run, connection, runId, runPath, me, readAgain: list.read, close }
}

const readAgainAfter: ReadonlySet<string> = new Set(['run.composed', 'run.completed', 'run.reopened', 'run.failed'])

type DeskState = Pick<ReviewDesk, 'sets' | 'list' | 'fresh' | 'notice'>

/** Reads the list page by page; asked for again meanwhile, it is read again after that. */
function openList(
  connection: Connection,
  { runPath, signal: closing, state }: { runPath: string; signal: AbortSignal; state: DeskState },
) {
  let isReading = false
  let isWanted = false
  const unlisted = new Set<string>()
  const count = () => (state.fresh.value = unlisted.size)
  const readPages = async () => {
    unlisted.clear() // what was made by now is in the list
    count()
    for (let cursor: string | undefined; ;) {
      const query = { limit: pageSize, cursor }
      const page = await connection.json<z.infer<typeof ChangePage>>(`${runPath}/changes`, { query, signal: closing })
      state.sets.value = withListed(state.sets.value, page.changes)
      for (const { change_set_id: id } of page.changes) unlisted.delete(id)
      count()
      if (page.next === null) return
      cursor = page.next
    }
  }
  const read = async () => {
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
  }
  return {
    read,
    /** Counts a change set as new until it is listed: one that is made while the list is read may be in it, or too late for it. The first are shown at once. */
    expect(id: string): void {
      if (!state.sets.value.has(id)) unlisted.add(id)
      count()
      if (state.sets.value.size === 0) void read()
    },
  }
}

/** Shows what others have decided, and says so of the last that is not by this page's own token. */
function takeDecisions(made: readonly MadeDecision[], { me, state }: { me: string; state: DeskState }): void {
  const before = state.sets.value
  state.sets.value = withDecisions(before, made)
  const isOfOthers = ({ id, decision }: MadeDecision) =>
    state.sets.value.get(id) !== before.get(id) && deciderOf(decision, me) !== 'you'
  const last = made.findLast(isOfOthers)
  const set = last && state.sets.value.get(last.id)
  if (last === undefined || set === undefined) return
  const { verdict } = last.decision
  const what = verdict === 'pending' ? 'took back the decision on' : verdict
  const text = `${deciderOf(last.decision, me)} ${what} ${nameOfChange(set.change)}`
  state.notice.value = { text, tone: 'quiet', about: last.id }
}

function publicationNotice({ event, data }: Event): Notice | undefined {
  const { url, reason, error_code: code } = data
  if (event === 'publication.opened' && typeof url === 'string')
    return { text: 'The pull request is open:', tone: 'good', link: url }
  if (event === 'publication.failed') return { text: `Not published: ${String(reason)} (${String(code)})`, tone: 'bad' }
  return undefined
}
