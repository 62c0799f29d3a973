import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import { aPlannedOperation, type TestLedger } from '#testing/open-test-ledger.ts'
import { recordedLog } from '#testing/recorded-log.ts'
import { openProjectBudgets } from './project-budgets.ts'
import type { DispatchDeps } from './run-dispatcher.ts'

export const operations = Array.from({ length: 20 }, (_, at) => aPlannedOperation(`f${at}`))

/**
 * A dispatcher of the test's ledger, with a queue that only notes what each run was given, and a clock for days. While `broken`,
 * adding fails.
 */
export function openDispatcher(
  test: Pick<TestLedger, 'ledger'>,
  fleet: { operations: number; capacity?: number; stuck?: number } = { operations: 10 },
) {
  const given = new Map<RunId, string[]>()
  const warnings: unknown[] = []
  const recorded = recordedLog({ level: 'info' })
  const queue = { broken: false }
  const clock = { nowMs: Date.UTC(2026, 10, 1, 12) }
  const deps: DispatchDeps = {
    ledger: test.ledger,
    producer: {
      async addMany(_queue, jobs) {
        if (queue.broken) throw new AppError('STORE_001', 'the queue is away')
        for (const { id, payload } of jobs) {
          const known = given.get(payload.run_id) ?? []
          if (!known.includes(id)) given.set(payload.run_id, [...known, id])
        }
      },
      discard: async () => {},
      missing: async (_queue, ids) => ids.filter((id) => ![...given.values()].flat().includes(id)),
    },
    stageJobs: { ensure: async () => {} },
    fleet: async () => ({
      workers: 1,
      capacity: undefined,
      stuck: 0,
      away: [],
      working: new Set(),
      served: new Set(),
      ...fleet,
    }),
    awayModels: { note: async () => {} },
    budgets: openProjectBudgets({ ledger: test.ledger, now: async () => clock.nowMs, log: recorded.log }),
    states: new Map(),
    log: { warn: (_message, fields) => void warnings.push(fields?.['run_id']) },
  }
  const count = (runId: RunId) => given.get(runId)?.length ?? 0
  return {
    deps,
    queue,
    clock,
    warnings,
    count,
    logged: (runId: RunId) => recorded.entries.filter((entry) => entry['run_id'] === runId),
  }
}
