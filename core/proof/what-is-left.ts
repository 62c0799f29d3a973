import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Violation } from '#ledger/violation.ts'
import { delay } from '#platform/clock.ts'
import { operationJobId, type QueueName } from '#queues/catalog.ts'
import type { Producer } from '#queues/producer.ts'
import { operationPages } from './operation-pages.ts'

export type LeftDeps = {
  ledger: Pick<Ledger, 'leftovers' | 'listOperations'>
  queues: Pick<Producer, 'missing'>
  /** The relay publishes the last results, and the last job completes, a moment after a run's end. */
  momentMs?: number
}

const defaultMomentMs = 2_000
const betweenLooksMs = 50

/**
 * Invariant 8 of an ended run: what its ledger keys and the queues still hold of it, and go on holding for a moment.
 * Processes and temporary files are their machine's own, and not looked for.
 */
export async function whatIsLeft(run: Run, deps: LeftDeps): Promise<Violation[]> {
  const [inLedger, jobs] = await Promise.all([lasting(() => deps.ledger.leftovers(run), deps), jobsLeft(run, deps)])
  const inQueues = jobs.map(({ queue, id }) => `the job ${id} in the queue ${queue}`)
  return [...inLedger, ...inQueues].map((what) => ({ invariant: 8, message: `the run has ended and left ${what}` }))
}

type NamedJob = { queue: QueueName; id: string }

async function jobsLeft(run: Run, deps: LeftDeps): Promise<NamedJob[]> {
  let jobs: NamedJob[] = []
  for await (const page of jobNames(run, deps)) jobs.push(...(await present(page, deps)))
  return lasting(async () => (jobs = await present(jobs, deps)), deps)
}

/** Every job the run ever had, by the names it was given: a job of its own for each stage, one for each dispatch. */
async function* jobNames({ runId }: Run, { ledger }: LeftDeps): AsyncGenerator<NamedJob[]> {
  yield (['snapshots', 'discoveries', 'compositions'] as const).map((queue) => ({ queue, id: runId }))
  for await (const operations of operationPages(ledger, runId)) {
    yield operations.flatMap(({ operationId, dispatch }) =>
      Array.from({ length: dispatch }, (_, before) => {
        const id = operationJobId({ runId, operationId, dispatch: before + 1 })
        return { queue: 'operations' as const, id }
      }),
    )
  }
}

async function present(jobs: readonly NamedJob[], { queues }: LeftDeps): Promise<NamedJob[]> {
  const found: NamedJob[] = []
  for (const queue of new Set(jobs.map((job) => job.queue))) {
    const ids = jobs.filter((job) => job.queue === queue).map((job) => job.id)
    const missing = new Set(await queues.missing(queue, ids))
    found.push(...ids.filter((id) => !missing.has(id)).map((id) => ({ queue, id })))
  }
  return found
}

/** What `look` finds, if it still does after a moment. */
async function lasting<T>(look: () => Promise<T[]>, { momentMs = defaultMomentMs }: LeftDeps): Promise<T[]> {
  const deadline = performance.now() + momentMs
  for (;;) {
    const left = await look()
    if (left.length === 0 || performance.now() > deadline) return left
    await delay(betweenLooksMs)
  }
}
