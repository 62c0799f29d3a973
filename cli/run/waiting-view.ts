import type { RunView } from '../api-views.ts'
import { hasEnded } from '../has-ended.ts'

/** What `--json` adds to a run that no stack works on: what its own status does not say. */
export function waitingView({ status }: Pick<RunView, 'status'>, isWaiting: boolean): { waits_for_stack?: true } {
  return isWaiting && !hasEnded(status) ? { waits_for_stack: true } : {}
}
