import { unreachable } from '#domain/unreachable.ts'
import { clip, type Paint } from './paint.ts'
import { plural } from './describe-event.ts'
import {
  endedOperations,
  failedOperations,
  runningOperations,
  shownPhases,
  type ProgressState,
  type ShownPhase,
} from './progress-state.ts'

export type ScreenView = { width: number; elapsedMs: number; paint: Paint }

const labelWidth = 11
const countWidth = 14

/** The live picture: a bar per phase, the operations' counts, the last events. No line is wider than the terminal. */
export function renderScreen(state: ProgressState, view: ScreenView): string[] {
  const width = Math.max(30, view.width)
  const head = clip(`run ${state.runId}  ${state.status}  ${formatSeconds(view.elapsedMs)}`, width)
  const counts = [
    `${endedOperations(state)} done`,
    `${runningOperations(state)} running`,
    `${failedOperations(state)} failed`,
  ].join(' · ')
  return [
    view.paint('bold', head),
    ...shownPhases.map((phase) => phaseLine(state, phase, width, view.paint)),
    clip(`operations  ${counts}`, width),
    ...state.recent.map((line) => view.paint('dim', clip(`  ${line}`, width))),
  ]
}

function phaseLine(state: ProgressState, phase: ShownPhase, width: number, paint: Paint): string {
  const share = phaseShare(state, phase)
  const barWidth = Math.max(4, Math.min(40, width - labelWidth - countWidth - 2))
  const full = Math.floor(share * barWidth)
  const bar = '█'.repeat(full) + '░'.repeat(barWidth - full)
  const label = phase.padEnd(labelWidth)
  return `${label} ${paint(share === 1 ? 'green' : 'cyan', bar)} ${clip(phaseFigure(state, phase), countWidth)}`.trimEnd()
}

/** From 0 to 1. Only the execution's share is known while it goes on. */
function phaseShare(state: ProgressState, phase: ShownPhase): number {
  if (state.status === 'completed') return 1
  const distance = shownPhases.indexOf(phase) - shownPhases.indexOf(state.phase)
  if (distance !== 0) return distance < 0 ? 1 : 0
  return phase === 'execution' && state.total ? endedOperations(state) / state.total : 0
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
      return state.total === undefined ? '' : `${endedOperations(state)}/${state.total}`
    case 'review':
      return state.phase === 'review' ? plural(state.changeSets, 'change') : ''
    default:
      return unreachable(phase)
  }
}

/** `850 ms`, `12.3 s`, `4 min 05 s`. */
export function formatSeconds(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 100_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`
}
