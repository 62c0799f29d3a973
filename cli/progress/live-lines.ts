import { figure } from '#domain/figure.ts'
import { summarizeEvent } from '#domain/timeline/summarize-event.ts'
import { doingText, formatSeconds, nodePlace, plural } from '#domain/timeline/words.ts'
import type { EventView } from '#schemas/event-schema.ts'
import type { ActiveOperation } from '#schemas/live-schema.ts'
import type { RunView } from '#schemas/run-schema.ts'
import { labelledLines } from '../wording.ts'
import { goingOn, type ProgressState } from './progress-state.ts'

/** Returns a line for a list of events: its time, its name, and what it says in words. */
export function eventLine(event: EventView): string {
  return `${event.ts.slice(11, 19)}  ${event.event.padEnd(21)}  ${summarizeEvent(event)}`.trimEnd()
}

const shownOperations = 4

/** Says what a run does now, its pace, what moves for the longest, what waits and for what, and what agents found last. */
export function liveLines(state: Pick<ProgressState, 'seen' | 'status' | 'findings'>, nowMs = Date.now()): string[] {
  const run = goingOn(state)
  const now = run === undefined ? [] : linesOf(run, nowMs)
  return labelledLines([...now, ...state.findings.map((text) => ['finding', text] as const)])
}

function linesOf(run: RunView, nowMs: number): (readonly [label: string, text: string])[] {
  const { current_step: step, active_operations: active, counts, estimated_end: end } = run
  const moving = active.filter(({ status }) => status === 'running')
  const longest = moving.toSorted((left, right) => left.since.localeCompare(right.since)).slice(0, shownOperations)
  const waits = [
    [counts.ready + counts.dispatched, 'a free worker'],
    [counts.pending, 'other operations'],
    [counts.waiting, 'a person'],
  ] as const
  const waiting = waits.flatMap(([count, what]) => (count > 0 ? [`${figure(count)} for ${what}`] : []))
  return [
    ['now', step],
    ['pace', paceText(run.last_minute)],
    ['end', end === null ? '' : `in about ${formatSeconds(leftMs(end.at, nowMs))}: ${end.how}`],
    ...longest.map((operation) => ['running', runningText(operation, nowMs)] as const),
    ['waiting', waiting.join(', ')],
  ]
}

/** `lint Shelf.count: executing tools, runs run_tests for 3.2 s (src/a.py)`: a narrow terminal cuts what is least missed. */
function runningText(
  { agent, path, qualified_name: name, current_step: step, doing, tool, since }: ActiveOperation,
  nowMs: number,
): string {
  const what = tool === undefined ? doingText(doing) : `runs ${tool}`
  const lasts = formatSeconds(Math.max(0, nowMs - Date.parse(since)))
  return `${[agent, name].join(' ')}: ${step.replace('_', ' ')}, ${what} for ${lasts}${nodePlace(path, name) === path ? '' : ` (${path})`}`
}

/** `42 operations, 10,200 tokens in, 2,100 out in the last minute`; empty when nothing has ended in it. */
function paceText({ operations, tokens_in: tokensIn, tokens_out: tokensOut }: RunView['last_minute']): string {
  if (operations + tokensIn + tokensOut === 0) return ''
  return `${plural(operations, 'operation')}, ${plural(tokensIn, 'token')} in, ${figure(tokensOut)} out in the last minute`
}

/** Rounds to whole seconds, since it is an estimate. */
function leftMs(at: string, nowMs: number): number {
  return Math.max(1, Math.ceil((Date.parse(at) - nowMs) / 1_000)) * 1_000
}
