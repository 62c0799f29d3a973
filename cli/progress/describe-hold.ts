import { formatSeconds } from '#domain/timeline/words.ts'
import { goingOn, type ProgressState } from './progress-state.ts'

/** A run of which nothing was heard for so long is held by something, and a person who watches wants to know by what. */
const heldMs = 30_000

/** Says what holds a run in which nothing has moved for half a minute; undefined for one that waits for something that is said already. */
export function holdLine(
  state: Pick<ProgressState, 'seen' | 'status' | 'settingUp'>,
  quietMs: number,
): string | undefined {
  const run = goingOn(state)
  if (quietMs < heldMs || run === undefined || run.waiting_for.length > 0) return undefined
  const what = state.settingUp === undefined ? `the run ${run.current_step}` : `its setup runs: ${state.settingUp}`
  return `nothing has moved for ${formatSeconds(Math.floor(quietMs / 1_000) * 1_000)}: ${what}`
}
