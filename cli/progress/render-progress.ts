import { unreachable } from '#domain/error.ts'
import { formatSeconds, plural } from '#domain/timeline/words.ts'
import type { ComposingView } from '#schemas/run-schema.ts'
import { clip, type Paint } from '../terminal-text.ts'
import { liveLines } from './live-lines.ts'
import { holdLine } from './describe-hold.ts'
import { waitingLines, waitsOf } from './describe-waiting.ts'
import { questionLines } from './describe-question.ts'
import {
  cancelledOperations,
  endedOperations,
  failedOperations,
  goingOn,
  isComposed,
  type ProgressState,
  runningOperations,
  type ShownPhase,
  shownPhases,
} from './progress-state.ts'

/** `quietMs`: for how long no event has come. */
export type ScreenView = { width: number; elapsedMs: number; quietMs?: number; paint: Paint }

const labelWidth = 11
const countWidth = 14

/** Returns the live screen: a bar per phase, the operations' counts, the last events. No line is wider than the terminal. */
export function renderScreen(state: ProgressState, view: ScreenView): string[] {
  const width = Math.max(30, view.width)
  const head = clip(
    `run ${state.runId}  ${goingOn(state)?.status ?? state.status}  ${formatSeconds(view.elapsedMs)}`,
    width,
  )
  const cancelled = cancelledOperations(state)
  const held = holdLine(state, view.quietMs ?? 0)
  const counts = [
    `${endedOperations(state)} done`,
    `${runningOperations(state)} running`,
    `${failedOperations(state)} failed`,
    ...(cancelled > 0 ? [`${cancelled} cancelled`] : []),
    ...(state.questions.length > 0 ? [`${plural(state.questions.length, 'question')} open`] : []),
  ].join(' · ')
  return [
    view.paint('bold', head),
    ...shownPhases.map((phase) => phaseLine(state, phase, width, view.paint)),
    clip(`operations  ${counts}`, width),
    ...[...waitingLines(waitsOf(state)), ...questionLines(state), ...(held === undefined ? [] : [held])].map((line) =>
      view.paint('yellow', clip(line, width)),
    ),
    ...liveLines(state).map((line) => clip(line, width)),
    ...state.recent.map((line) => view.paint('dim', clip(`  ${line}`, width))),
  ]
}

function phaseLine(state: ProgressState, phase: ShownPhase, width: number, paint: Paint): string {
  const share = phaseShare(state, phase)
  const bar = barOf(share, Math.max(4, Math.min(40, width - labelWidth - countWidth - 2)))
  const label = phase.padEnd(labelWidth)
  return `${label} ${paint(share === 1 ? 'green' : 'cyan', bar)} ${clip(phaseFigure(state, phase), countWidth)}`.trimEnd()
}

/** Is grey for a phase that is under way with an unknown share. */
function barOf(share: number | 'under way', width: number): string {
  if (share === 'under way') return '▒'.repeat(width)
  const full = Math.floor(share * width)
  return '█'.repeat(full) + '░'.repeat(width - full)
}

/** Returns 0 to 1. Only the execution and the composing of the patch have a known share while they are under way. */
function phaseShare(state: ProgressState, phase: ShownPhase): number | 'under way' {
  if (isComposed(state.status, state)) return 1
  const composing = goingOn(state)?.composing
  if (phase === 'review' && composing) return composedShare(composing)
  if (phase === 'review' && isInReview(state)) return 'under way'
  const distance = shownPhases.indexOf(phase) - shownPhases.indexOf(state.phase)
  if (distance !== 0) return distance < 0 ? 1 : 0
  if (phase === 'execution' && state.total !== undefined)
    return state.total === 0 ? 1 : endedOperations(state) / state.total
  return state.status === 'running' ? 'under way' : 0
}

/** Gives half to the operations that are read, half to the files; how many these are is only known then. */
function composedShare({ operations_read: read, operations, files_proved: proved, files }: ComposingView): number {
  return files === 0 ? read / Math.max(1, operations) / 2 : 0.5 + proved / files / 2
}

/** The patch is composed and proved once every operation has ended. No event marks the beginning of that. */
function isInReview(state: ProgressState): boolean {
  if (state.status !== 'running') return false
  if (state.phase === 'review') return true
  return state.phase === 'execution' && !state.isConducted && endedOperations(state) === state.total
}

function phaseFigure(state: ProgressState, phase: ShownPhase): string {
  switch (phase) {
    case 'snapshot':
      return state.files === undefined ? '' : plural(state.files, 'file')
    case 'discovery':
      return state.nodes === undefined ? '' : plural(state.nodes, 'node')
    case 'planning':
      return state.total === undefined ? '' : `${state.total} planned`
    case 'execution':
      if (state.settingUp !== undefined) return 'setting up'
      return state.total === undefined ? '' : `${endedOperations(state)}/${state.total}`
    case 'review': {
      const composing = goingOn(state)?.composing
      if (composing) return composedFigure(composing)
      return state.phase === 'review' || isInReview(state) ? plural(state.changeSets, 'change') : ''
    }
    default:
      return unreachable(phase)
  }
}

function composedFigure(composing: ComposingView): string {
  const { operations_read: read, operations, files_proved: proved, files, gate_runs: runs } = composing
  if (runs !== undefined) return `${plural(runs, 'run')} of its tests`
  return files === 0 ? `${read}/${operations} read` : `${proved}/${files} files`
}

const everyMs = 1000
/** The interval while operations run and none begins or ends. */
const quietMs = 10_000

/** Writes a line for a pipe when the phase changes, one a second while operations begin or end, else one in ten seconds. */
export function openPlainLines(): (state: ProgressState, nowMs: number) => string | undefined {
  let last = { phase: '', moves: '', atMs: -Infinity, elapsedMs: 0 }
  return (state, nowMs) => {
    const running = runningOperations(state)
    const composing = goingOn(state)?.composing
    const phase = composing ? 'review' : state.phase
    const moves = `${running} ${endedOperations(state)} ${state.settingUp ?? ''} ${composing ? composedFigure(composing) : ''}`
    const sinceMs = nowMs - last.atMs
    const worthSaying =
      moves !== last.moves ? sinceMs >= everyMs : (running > 0 || state.settingUp !== undefined) && sinceMs >= quietMs
    if (phase === last.phase && !worthSaying) return undefined
    const eventsMs = (state.lastAtMs ?? 0) - (state.startedAtMs ?? 0)
    const elapsedMs = last.phase === '' ? eventsMs : Math.max(eventsMs, last.elapsedMs + sinceMs)
    last = { phase, moves, atMs: nowMs, elapsedMs }
    const done = composing ? composedText(composing) : figures(state)
    return `[${formatSeconds(elapsedMs)}] ${phase}: ${done}`
  }
}

function composedText(composing: ComposingView): string {
  const { operations_read: read, operations, files_proved: proved, files, gate_runs: runs, gate_most: most } = composing
  if (runs !== undefined) return `the run's own tests: run ${runs}, of ${most ?? 'any number'} at most`
  return files === 0
    ? `the changes of ${read}/${operations} operations read`
    : `${proved}/${files} changed files composed and checked`
}

function figures(state: ProgressState): string {
  switch (state.phase) {
    case 'snapshot':
      return 'storing the files'
    case 'discovery':
      return plural(state.files ?? 0, 'file')
    case 'planning':
      return plural(state.nodes ?? 0, 'node')
    case 'execution':
    case 'review': {
      if (state.settingUp !== undefined) return `setting up with ${state.settingUp}`
      const running = runningOperations(state)
      const counts = `${endedOperations(state)}/${state.total ?? (state.isConducted ? 0 : '?')} ${state.total === 1 ? 'operation' : 'operations'} done`
      const cancelled = cancelledOperations(state)
      const stopped = cancelled > 0 ? `, ${cancelled} cancelled` : ''
      const asking = state.questions.length === 0 ? '' : `, ${state.questions.length} waiting for an answer`
      return `${counts}, ${running} running, ${failedOperations(state)} failed${stopped}${asking}`
    }
    default:
      return unreachable(state.phase)
  }
}
