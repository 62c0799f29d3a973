import { unreachable } from '#domain/unreachable.ts'
import { formatSeconds } from '../format-seconds.ts'
import { plural } from '../plural.ts'
import {
  cancelledOperations,
  endedOperations,
  failedOperations,
  runningOperations,
  type ProgressState,
} from './progress-state.ts'

const everyMs = 1000

/**
 * Progress for a pipe: a line when the phase changes, and every second in which any operation ended.
 */
export function openPlainLines(): (state: ProgressState, nowMs: number) => string | undefined {
  let last = { phase: '', ended: 0, atMs: -Infinity }
  return (state, nowMs) => {
    const ended = endedOperations(state)
    const worthSaying = ended > last.ended && nowMs - last.atMs >= everyMs
    if (state.phase === last.phase && !worthSaying) return undefined
    last = { phase: state.phase, ended, atMs: nowMs }
    return plainLine(state)
  }
}

function plainLine(state: ProgressState): string {
  const elapsed = formatSeconds((state.lastAtMs ?? 0) - (state.startedAtMs ?? 0))
  return `[${elapsed}] ${state.phase}: ${figures(state)}`
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
      const running = runningOperations(state)
      const counts = `${endedOperations(state)}/${state.total ?? '?'} ${state.total === 1 ? 'operation' : 'operations'} done`
      const cancelled = cancelledOperations(state)
      const stopped = cancelled > 0 ? `, ${cancelled} cancelled` : ''
      const asking = state.questions.length === 0 ? '' : `, ${state.questions.length} waiting for an answer`
      return `${counts}, ${running} running, ${failedOperations(state)} failed${stopped}${asking}`
    }
    default:
      return unreachable(state.phase)
  }
}
