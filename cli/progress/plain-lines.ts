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

const everyMs = 2000
const everyShare = 0.05

/**
 * Progress for a pipe: a line when the phase changes, for every 5 % of the operations, and every 2 s in which any
 * ended.
 */
export function openPlainLines(): (state: ProgressState, nowMs: number) => string | undefined {
  let last = { phase: '', ended: 0, atMs: -Infinity }
  return (state, nowMs) => {
    const ended = endedOperations(state)
    const grown = ended - last.ended
    const step = Math.max(1, (state.total ?? Infinity) * everyShare)
    const worthSaying = grown >= step || (grown > 0 && (nowMs - last.atMs >= everyMs || ended === state.total))
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
      return `${counts}, ${running} running, ${failedOperations(state)} failed${stopped}`
    }
    default:
      return unreachable(state.phase)
  }
}
