import { z } from 'zod'
import type { Event } from '#domain/event.ts'
import type { EventName } from '#domain/events/event-table.ts'
import type { WatchWindow } from '#domain/events/watcher-events.ts'
import { choose, isOwnEffect, type WatchedBy, type WatchState } from './watch-state.ts'

/** Takes in an event, and returns the window that it completes. */
type Detector = (state: WatchState, event: Event, by: WatchedBy) => WatchWindow | undefined

/** The share of failures is that of the last so many operations that ended. */
const judgedEnds = 20
const Count = z.int().min(0).catch(0)

const isBad: Readonly<Record<string, boolean>> = { succeeded: false, unchanged: false, failed: true, blocked: true }

/** Chooses the last ends of operations when so many in a row were bad, or such a share of the last twenty. */
const failures: Detector = (state, { event, seq, data }, { thresholds }) => {
  const bad = isBad[String(data['status'])]
  if (event !== 'operation.ended' || bad === undefined) return undefined
  state.ends.push([seq, bad])
  state.ends.splice(0, state.ends.length - judgedEnds)
  const { ends } = state
  const inARow = ends.length - 1 - ends.findLastIndex(([, was]) => !was)
  const share = ends.filter(([, was]) => was).length / ends.length
  const isRow = inARow >= thresholds.failures_in_a_row
  if (!isRow && (ends.length < judgedEnds || share < thresholds.failure_share)) return undefined
  const judged = isRow ? ends.slice(-inARow) : ends
  const why = isRow
    ? `the last ${inARow} operations that ended have failed or were blocked`
    : `${Math.round(share * 100)} % of the last ${ends.length} operations that ended have failed or were blocked`
  state.ends = []
  return { kind: 'failure_spike', from_seq: judged[0]?.[0] ?? seq, to_seq: seq, why }
}

type Signs = { kind: WatchWindow['kind']; what: string; isSign(event: Event): boolean; times: keyof TimesOf }
type TimesOf = Pick<WatchedBy['thresholds'], 'timeouts' | 'limits_hit' | 'security_signs'>

/** Only these say how a call, an operation or the run ended: a code is counted once. */
const endings: ReadonlySet<EventName> = new Set(['tool.returned', 'operation.ended', 'run.failed'])

function endsWith(codes: readonly string[]): Signs['isSign'] {
  return ({ event, errorCode }) => endings.has(event) && errorCode !== undefined && codes.includes(errorCode)
}

const timedOut = endsWith(['AGENT_006', 'TOOL_003'])
const hitLimit = endsWith(['AGENT_004', 'AGENT_007', 'TOOL_006'])
const leftWorkspace = endsWith(['TOOL_007', 'TOOL_008'])
/** Rules of bandit, which Ruff has too, weaknesses by their number, and rules whose name says so. */
const securityRule = /^(?:S\d{3}|B\d{3}|CWE-\d+|security[./-].*)$/

const counted: readonly Signs[] = [
  { kind: 'timeout_pattern', what: 'timeouts', isSign: timedOut, times: 'timeouts' },
  {
    kind: 'resource_exhaustion',
    what: 'limits hit and workers lost',
    isSign: (event) => hitLimit(event) || (event.event === 'operation.retried' && event.data['reason'] === 'lost'),
    times: 'limits_hit',
  },
  {
    kind: 'security_concern',
    what: 'security findings, and calls that left the workspace or were denied',
    isSign: (event) =>
      leftWorkspace(event) || (event.event === 'finding.reported' && securityRule.test(String(event.data['rule']))),
    times: 'security_signs',
  },
]

/**
 * Chooses from the first to the last of so many signs that came within the time, and, but for security, are at least such a share of the
 * operations that ended meanwhile.
 */
function signsOf({ kind, what, isSign, times }: Signs): Detector {
  return (state, event, { thresholds }) => {
    if (!isSign(event)) return undefined
    const signs = [...(state.signs[kind] ?? []), [event.seq, event.ts, state.spent.ended] as const].slice(
      -thresholds[times],
    )
    state.signs[kind] = signs.map(([seq, at, ended]) => [seq, at, ended])
    const [first] = signs
    if (first === undefined || signs.length < thresholds[times]) return undefined
    const [seq, at, ended] = first
    const isRare = kind !== 'security_concern' && signs.length < thresholds.hit_share * (state.spent.ended - ended)
    if (isRare || event.ts - at > thresholds.window_s * 1000) return undefined
    state.signs[kind] = []
    const why = `${signs.length} ${what} within ${Math.ceil((event.ts - at) / 1000)} s`
    return { kind, from_seq: seq, to_seq: event.seq, why }
  }
}

const plans: ReadonlySet<EventName> = new Set(['run.planned', 'item.started', 'operations.repeated'])
/** The pace is not judged before this share of the budget is used. */
const leastSpent = 0.2

/** Chooses all until now when much more of the run's budget is used than of its operations is done; those that run are half done. */
const pace: Detector = ({ spent }, { event, seq, data }, { thresholds, budget }) => {
  if (plans.has(event)) spent.planned += Count.parse(data['operations'])
  if (event === 'operation.started' && data['attempt'] === 1) spent.begun += 1
  if (event === 'operation.ended') spent.ended += 1
  if (event !== 'model.responded') return undefined
  spent.tokens += Count.parse(data['prompt_tokens']) + Count.parse(data['completion_tokens'])
  if (budget === null || spent.planned === 0) return undefined
  const [used, done] = [
    spent.tokens / budget,
    (spent.ended + Math.max(0, spent.begun - spent.ended) / 2) / spent.planned,
  ]
  if (used < leastSpent || used < thresholds.budget_pace * done) return undefined
  const [usedPart, donePart] = [used, done].map((share) => `${Math.round(share * 100)} %`)
  const why = `${usedPart} of the run's token budget is used, and ${donePart} of its operations are done`
  return { kind: 'cost_anomaly', from_seq: 1, to_seq: seq, why }
}

const move: Detector = (state, { event, seq, ts }) => {
  if (event !== 'run.waiting') state.moved = { seq, at: ts }
  return undefined
}

// The pace comes first: it counts the ends that signs are compared with.
const detectors: readonly Detector[] = [pace, failures, ...counted.map(signsOf), move]

/** Takes in events, which follow on the cursor. It moves over every event; what the watcher has caused is left out after that. */
export function watchEvents(before: WatchState, events: readonly Event[], by: WatchedBy): WatchState {
  const state = structuredClone(before)
  for (const event of events) {
    state.cursor = event.seq
    if (isOwnEffect(state, event)) continue
    for (const detect of detectors) {
      const window = detect(state, event, by)
      if (window !== undefined) choose(state, window, event.ts, by.thresholds.cool_down_s * 1000)
    }
  }
  return state
}

/** Takes in that it is `nowMs`, of a run that is running: chooses its last event when nothing has moved for too long. */
export function watchClock(before: WatchState, nowMs: number, { thresholds }: WatchedBy): WatchState {
  const { moved, cursor } = before
  if (moved === null || nowMs - moved.at < thresholds.stalled_s * 1000) return before
  const state = structuredClone(before)
  const why = `nothing has moved for ${Math.floor((nowMs - moved.at) / 1000)} s, and the run says of nothing that it waits for it`
  const window = { kind: 'stalled_run', from_seq: moved.seq, to_seq: cursor, why } as const
  choose(state, window, nowMs, thresholds.cool_down_s * 1000)
  return state
}
