import { describe, expect, it } from 'vitest'
import { aRun } from '../answers.fixture.ts'
import { openPaint } from '../terminal-text.ts'
import { waitingText } from '#domain/timeline/words.ts'
import { openWaitingNotices, waitingLines, waitsOf } from './describe-waiting.ts'
import { eventsOf, plannedRun } from './events.fixture.ts'
import { foldProgress } from './fold-progress.ts'
import { emptyProgress, type ProgressState } from './progress-state.ts'
import { renderScreen } from './render-progress.ts'

const fold = (drafts: Parameters<typeof eventsOf>[0]) => eventsOf(drafts).reduce(foldProgress, emptyProgress('r1'))
const since = Date.UTC(2026, 10, 1)
const away = { event: 'models.away', data: { model: 'default', since, bundles: ['lint'] } }
const eventsWait = [
  { kind: 'models', model: 'default', since },
  { kind: 'answer', questions: 2 },
] // as events have it
const waiting = { event: 'run.waiting', data: { questions: 2, waiting_for: eventsWait } }

const server = {
  url: 'http://gpu:8000/v1',
  has_answered: true,
  last_error: 'answered 503',
  next_probe: '2026-11-01T00:00:03.000Z',
}
const wrong = { url: 'http://gpv:8000/v1', has_answered: false, last_error: 'no answer: ENOTFOUND', next_probe: null }
const run = aRun({
  status: 'waiting',
  current_step: 'waits for the model and 1 answer',
  waiting_for: [
    { kind: 'models', model: 'default', since: new Date(since).toISOString(), servers: [server, wrong] },
    { kind: 'answer', questions: 1 },
  ],
})
const asked = (state: ProgressState, seen = run) => ({ ...state, seen })

describe('a run whose model is away', () => {
  it('shows on the screen since when, what each server said and when it is asked next', () => {
    const state = asked(fold([...plannedRun, away, waiting]))
    const lines = renderScreen(state, { width: 120, elapsedMs: 0, paint: openPaint(false) })
    expect(lines[0]).toContain('  waiting  ')
    expect(lines.slice(7)).toEqual([
      'waits for the model: no server of it works since 2026-11-01 00:00:00Z; it goes on by itself when one does',
      '  http://gpu:8000/v1: answered 503; asked again at 2026-11-01 00:00:03Z',
      '  http://gpv:8000/v1: no answer: ENOTFOUND, and has never answered',
      'now         waits for the model and 1 answer',
      '  snapshot of 12 files stored',
      '  40 nodes discovered',
      '  4 operations planned',
      '  no server of the model works',
      '  nothing can move: the run waits for the model and 2 answers',
    ])
  })

  it('is printed to a pipe once its servers are known, again once a minute, and when it is back', () => {
    const noticesOf = openWaitingNotices()
    const before = fold([...plannedRun, away])
    expect(noticesOf(before, undefined, 0)).toEqual([])
    const known = asked(before)
    expect(noticesOf(known, 'held', 1)).toEqual([...waitingLines(waitsOf(known)), 'held'])
    expect(noticesOf(known, 'held', 60_000)).toEqual([])
    expect(noticesOf(known, undefined, 60_001)).toHaveLength(3)
    expect(noticesOf(fold(plannedRun), undefined, 60_002)).toEqual(['the model works again'])
    expect(noticesOf(fold(plannedRun), undefined, 60_003)).toEqual([])
    noticesOf(known, undefined, 60_004)
    const cancelled = asked(fold([...plannedRun, { event: 'run.cancelled' }]))
    expect(noticesOf(cancelled, undefined, 60_005)).toEqual([])
  })
})

describe('a run whose plan waits for its approval', () => {
  const startedAt = Date.UTC(2026, 10, 1)
  const waitsSince = (ms: number) =>
    aRun({ waiting_for: [{ kind: 'approval', since: new Date(startedAt + ms).toISOString() }] })
  const line = 'waits for the approval of its plan: "remora show r1 --plan" shows it, "remora approve r1" lets it go on'

  it('says so once, also while its conductor hears something, and then that it goes on', () => {
    const noticesOf = openWaitingNotices()
    const planned = fold(plannedRun)
    expect(noticesOf(asked(planned, waitsSince(0)), undefined, 0)).toEqual([line])
    expect(noticesOf(asked(planned, aRun()), undefined, 1_000)).toEqual([])
    const again = asked(planned, waitsSince(2_000))
    expect([2_000, 62_001].map((nowMs) => noticesOf(again, undefined, nowMs))).toEqual([[], []])
    const approvedAtMs = startedAt + 70_000
    expect(noticesOf({ ...again, approvedAtMs }, undefined, 70_000)).toEqual(['its plan is approved: the run goes on'])
    expect(noticesOf({ ...asked(planned, waitsSince(80_000)), approvedAtMs }, undefined, 80_000)).toEqual([line])
  })

  it('has its approval from the events', () => {
    const approved = { event: 'plan.approved', data: { plan_hash: 'h', by: 'somebody' } }
    expect(fold([...plannedRun, approved]).approvedAtMs).toBeGreaterThan(0)
  })
})

describe('a run whose object store is full', () => {
  const message = 'it has no room left, and refuses every write'
  const stored = { kind: 'store', store: 'object_store', state: 'full', message }
  const standing = aRun({ ...run, status: 'running', waiting_for: [stored] })
  const line = `waits for the object store, which is full: ${message}; it goes on by itself when that works`

  it('says so in a list, on the screen and to a pipe, there once a minute and when it works again', () => {
    expect(waitingText(standing.waiting_for)).toBe('waits for the object store')
    const state = asked(fold(plannedRun), standing)
    expect(renderScreen(state, { width: 200, elapsedMs: 0, paint: openPaint(false) })).toContain(line)
    const noticesOf = openWaitingNotices()
    expect(noticesOf(state, undefined, 0)).toEqual([line])
    expect(noticesOf(state, undefined, 59_999)).toEqual([])
    expect(noticesOf(state, undefined, 60_000)).toEqual([line])
    const works = asked(state, aRun())
    expect(noticesOf(works, undefined, 60_001)).toEqual(['the object store works again'])
    expect(noticesOf(works, undefined, 60_002)).toEqual([])
  })
})

describe('a run whose budget is used up', () => {
  const reached = { event: 'budget.reached', data: { of: 'run', limit: 10_000, used: 12_345, since } }
  const ends = new Date(Date.UTC(2026, 10, 2)).toISOString()
  const day = { kind: 'budget', of: 'project', limit: 1_500, used: 1_500, since, resets_at: ends }
  const ofRun =
    'waits for tokens: the run has used 12,345 of its 10,000 tokens; "remora budget r1 --tokens N" lets it go on'
  const ofProject =
    'waits for tokens: its project has used 1,500 of the 1,500 tokens of today; it goes on by itself at 2026-11-02 00:00:00Z; "remora project budget PROJECT --tokens-per-day N" raises that'

  it('says of which budget, and how it goes on', () => {
    const seen = aRun({ waiting_for: [{ kind: 'budget', ...reached.data }, day], project_id: 'shop' })
    const waits = waitsOf({ ...fold([...plannedRun, reached, waiting]), seen })
    expect(waitingLines({ ...waits, projectId: undefined })).toEqual([ofRun, ofProject])
    const [, line] = waitingLines(waits)
    expect(line).toContain('"remora project budget shop --tokens-per-day N" raises that')
    expect(waitingText([{ kind: 'budget', of: 'run' }])).toBe('waits for tokens')
  })
})
