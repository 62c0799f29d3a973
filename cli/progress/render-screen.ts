import { unreachable } from '#domain/unreachable.ts'
import { formatSeconds } from '../format-seconds.ts'
import { plural } from '../plural.ts'
import { clip, type Paint } from './paint.ts'
import { questionLines } from './question-lines.ts'
import {
  cancelledOperations,
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
  const cancelled = cancelledOperations(state)
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
    ...questionLines(state).map((line) => view.paint('yellow', clip(line, width))),
    ...state.recent.map((line) => view.paint('dim', clip(`  ${line}`, width))),
  ]
}

function phaseLine(state: ProgressState, phase: ShownPhase, width: number, paint: Paint): string {
  const share = phaseShare(state, phase)
  const bar = barOf(share, Math.max(4, Math.min(40, width - labelWidth - countWidth - 2)))
  const label = phase.padEnd(labelWidth)
  return `${label} ${paint(share === 1 ? 'green' : 'cyan', bar)} ${clip(phaseFigure(state, phase), countWidth)}`.trimEnd()
}

/** Grey all over for a phase that goes on and whose share nobody knows. */
function barOf(share: number | 'under way', width: number): string {
  if (share === 'under way') return '▒'.repeat(width)
  const full = Math.floor(share * width)
  return '█'.repeat(full) + '░'.repeat(width - full)
}

/** From 0 to 1; only the execution's share is known while it goes on. */
function phaseShare(state: ProgressState, phase: ShownPhase): number | 'under way' {
  if (state.status === 'completed') return 1
  if (phase === 'review' && isInReview(state)) return 'under way'
  const distance = shownPhases.indexOf(phase) - shownPhases.indexOf(state.phase)
  if (distance !== 0) return distance < 0 ? 1 : 0
  if (phase === 'execution' && state.total !== undefined)
    return state.total === 0 ? 1 : endedOperations(state) / state.total
  return state.status === 'running' ? 'under way' : 0
}

/** The patch is composed and proved once every operation has ended; no event says that this begins. */
function isInReview(state: ProgressState): boolean {
  if (state.status !== 'running') return false
  return state.phase === 'review' || (state.phase === 'execution' && endedOperations(state) === state.total)
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
      return state.phase === 'review' || isInReview(state) ? plural(state.changeSets, 'change') : ''
    default:
      return unreachable(phase)
  }
}
