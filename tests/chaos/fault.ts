/** One thing that goes wrong. `atMs` counts from the first submission, `backAfterMs` and `forMs` from the fault. */
export type Fault = { atMs: number } & FaultKind

export type FaultKind =
  | { kind: 'kill_worker'; worker: number; backAfterMs: number }
  | { kind: 'drain_worker'; worker: number; backAfterMs: number }
  /** SIGSTOP, past its lease, then SIGCONT: it goes on as if nothing had been. */
  | { kind: 'freeze_worker'; worker: number; forMs: number }
  | { kind: 'kill_discovery'; backAfterMs: number }
  | { kind: 'second_discovery'; forMs: number }
  | { kind: 'kill_api'; backAfterMs: number }
  | { kind: 'kill_redis'; backAfterMs: number }
  | { kind: 'break_store'; how: StoreTrouble; forMs: number }
  /** The same payload again under another job id. */
  | { kind: 'duplicate_jobs'; share: number }
  /** Waiting and active jobs vanish from the queues. */
  | { kind: 'delete_jobs'; share: number }
  /** Every key of the queues, none of the ledger. */
  | { kind: 'wipe_queues' }
  | { kind: 'slow_model'; latencyMs: number; forMs: number }
  | { kind: 'failing_model'; answers: ModelTrouble; times: number }
  | { kind: 'cancel_run'; run: number }

export type StoreTrouble = '503' | 'slow' | 'reset'
export type ModelTrouble = '429' | '503' | 'reset' | 'truncated'
export type FaultName = FaultKind['kind']

export const faultNames = [
  'kill_worker',
  'drain_worker',
  'freeze_worker',
  'kill_discovery',
  'second_discovery',
  'kill_api',
  'kill_redis',
  'break_store',
  'duplicate_jobs',
  'delete_jobs',
  'wipe_queues',
  'slow_model',
  'failing_model',
  'cancel_run',
] as const satisfies readonly FaultName[]

/** `1204 ms kill_worker worker=1 backAfterMs=300` */
export function describeFault({ atMs, kind, ...rest }: Fault): string {
  const settings = Object.entries(rest).map(([name, value]) => `${name}=${value}`)
  return [`${atMs} ms`, kind, ...settings].join(' ')
}
