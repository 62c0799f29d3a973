import { isEnded } from '#domain/run.ts'
import type { RunView } from '#schemas/run-schema.ts'
import { formatSeconds, plural } from '../wording.ts'
import { doingText } from './live-lines.ts'
import type { ProgressState } from './progress-state.ts'
import { composedText } from './render-progress.ts'

/** A run of which nothing was heard for so long is held by something, and a person who watches wants to know by what. */
const heldMs = 30_000

/** Says what holds a run in which nothing has moved for half a minute; undefined for one that waits for something that is said already. */
export function holdLine(
  state: Pick<ProgressState, 'doing' | 'settingUp' | 'composing'>,
  run: Pick<RunView, 'status' | 'phase' | 'counts' | 'waiting_for'>,
  quietMs: number,
): string | undefined {
  if (quietMs < heldMs || isEnded(run.status) || run.waiting_for.length > 0) return undefined
  return `nothing has moved for ${formatSeconds(Math.floor(quietMs / 1_000) * 1_000)}: ${whatHolds(state, run)}`
}

function whatHolds(
  { doing, settingUp, composing }: Pick<ProgressState, 'doing' | 'settingUp' | 'composing'>,
  { phase, counts }: Pick<RunView, 'phase' | 'counts'>,
): string {
  const { running, dispatched, ready } = counts
  if (composing) return composedText(composing)
  if (settingUp !== undefined) return `its setup runs: ${settingUp}`
  if (running > 0) return runningText(running, doing)
  if (dispatched > 0) return `${plural(dispatched, 'operation')} in the queue, which no worker has taken`
  if (ready > 0) return `${plural(ready, 'operation')} ready, which discovery has not given to the workers`
  return phase === 'review' ? 'no worker has begun to compose its patch' : `discovery is at its ${phase}`
}

/** `2 operations wait for the model, 1 for run_tests` */
function runningText(running: number, doing: ProgressState['doing']): string {
  const known = doingText(doing)
  return `${plural(running, 'operation')} at work${known === '' ? '' : `, waiting: ${known}`}`
}
