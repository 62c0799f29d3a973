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
/** While operations run and none begins or ends. */
const quietMs = 10_000

/**
 * Progress for a pipe: a line when the phase changes, every second in which any operation began or ended, and every ten
 * while some run, as they do at a model server that is slow or hangs.
 */
export function openPlainLines(): (state: ProgressState, nowMs: number) => string | undefined {
  let last = { phase: '', moves: '', atMs: -Infinity, elapsedMs: 0 }
  return (state, nowMs) => {
    const running = runningOperations(state)
    const moves = `${running} ${endedOperations(state)}`
    const sinceMs = nowMs - last.atMs
    const worthSaying = moves !== last.moves ? sinceMs >= everyMs : running > 0 && sinceMs >= quietMs
    if (state.phase === last.phase && !worthSaying) return undefined
    const toldMs = (state.lastAtMs ?? 0) - (state.startedAtMs ?? 0)
    const elapsedMs = last.phase === '' ? toldMs : Math.max(toldMs, last.elapsedMs + sinceMs)
    last = { phase: state.phase, moves, atMs: nowMs, elapsedMs }
    return `[${formatSeconds(elapsedMs)}] ${state.phase}: ${figures(state)}`
  }
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
