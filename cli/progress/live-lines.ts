import { figure } from '#domain/figure.ts'
import { summarizeEvent } from '#domain/timeline/summarize-event.ts'
import type { EventView } from '#schemas/event-schema.ts'
import { formatSeconds, plural } from '../wording.ts'
import { endedOperations, type ProgressState } from './progress-state.ts'

/** Returns a line for a list of events: its time, its name, and what it says in words. */
export function eventLine(event: EventView): string {
  return `${event.ts.slice(11, 19)}  ${event.event.padEnd(21)}  ${summarizeEvent(event)}`.trimEnd()
}

const stepMs = 10_000
const windowMs = 60_000
/** A rate of less time says too little of what is left. */
const judgedMs = 20_000

type Pace = ProgressState['pace']

/** Returns the pace after one more event; only `operation.ended`, whose operation has used `tokens`, changes it. */
export function nextPace(pace: Pace, { event, ts }: EventView, tokens: number): Pace {
  if (event !== 'operation.ended') return pace
  const atMs = Math.floor(Date.parse(ts) / stepMs) * stepMs
  const last = pace.at(-1)
  if (last?.atMs !== atMs)
    return [...pace.filter((step) => step.atMs > atMs - windowMs), { atMs, operations: 1, tokens }]
  return [...pace.slice(0, -1), { atMs, operations: last.operations + 1, tokens: last.tokens + tokens }]
}

/** Says how fast a run is at `nowMs`, by the clock of its events, what its operations wait for, and what agents found last. */
export function liveLines(state: ProgressState, nowMs: number): string[] {
  const queue = state.inQueue === 0 ? '' : `${figure(state.inQueue)} for a free worker`
  const waiting = [doingText(state.doing), queue].filter((part) => part !== '').join(', ')
  const pace = paceText(state, nowMs)
  return [
    ...(pace === '' ? [] : [`pace        ${pace}`]),
    ...(waiting === '' ? [] : [`waiting     ${waiting}`]),
    ...state.findings.map((finding) => `finding     ${finding}`),
  ]
}

/** `3 for the model, 1 for run_tests` */
export function doingText(doing: ProgressState['doing']): string {
  const groups = [...Map.groupBy(Object.values(doing), (what) => what)]
  const largestFirst = groups.toSorted(([, left], [, right]) => right.length - left.length)
  return largestFirst.map(([what, all]) => `${figure(all.length)} for ${what}`).join(', ')
}

/** `42 operations, 12,300 tokens in the last minute, about 3 min 00 s left`; empty when nothing has ended in it. */
function paceText(state: ProgressState, nowMs: number): string {
  const recent = state.pace.filter((step) => step.atMs > nowMs - windowMs)
  const operations = recent.reduce((sum, step) => sum + step.operations, 0)
  const tokens = recent.reduce((sum, step) => sum + step.tokens, 0)
  const left = (state.total ?? 0) - endedOperations(state)
  if (operations === 0 || state.status !== 'running' || left === 0) return ''
  const takenMs = Math.min(windowMs, nowMs - (state.startedAtMs ?? nowMs))
  const leftMs = Math.ceil(((left / operations) * takenMs) / 1_000) * 1_000
  const rest = takenMs < judgedMs ? '' : `, about ${formatSeconds(leftMs)} left`
  return `${plural(operations, 'operation')}, ${plural(tokens, 'token')} in the last minute${rest}`
}
