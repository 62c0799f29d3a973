import type { OperationView } from '#schemas/operation-schema.ts'
import type { RunSummary } from '#schemas/run-schema.ts'

type Status = RunSummary['status'] | OperationView['status']
export type StatusColour = 'idle' | 'busy' | 'good' | 'plain' | 'warn' | 'bad'

const colours: Readonly<Record<Status, StatusColour>> = {
  queued: 'idle',
  pending: 'idle',
  ready: 'idle',
  dispatched: 'idle',
  running: 'busy',
  waiting: 'warn',
  completed: 'good',
  succeeded: 'good',
  unchanged: 'plain',
  skipped: 'plain',
  cancelled: 'plain',
  failed: 'bad',
  blocked: 'bad',
}

export function colourOf(status: Status): StatusColour {
  return colours[status]
}

export function StatusBadge({ status }: { status: Status }) {
  return (
    <span class="badge" data-state={colours[status]}>
      {status}
    </span>
  )
}
