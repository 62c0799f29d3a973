import { LRUCache } from 'lru-cache'
import type { RunId } from '#domain/ids.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { QueueName } from '#store/queues/catalog.ts'
import type { Producer } from '#store/queues/producer.ts'

export type StageJobs = ReturnType<typeof openStageJobs>

/** A job is added again this often while the run needs it; its id makes it one job. */
const everyMs = 2000
const maxRemembered = 10_000

/** `look`: what of the run the job is for. When that changes, the job is added at once. */
type StageJob = { queue: QueueName; look: string }

export function openStageJobs(producer: Pick<Producer, 'add'>) {
  const lastAdded = new LRUCache<RunId, Map<QueueName, { look: string; at: number }>>({ max: maxRemembered })
  return {
    /**
     * Ensures that a run has the jobs of its stage, even if the last ones were lost: one between operations, and while a conductor decides, its next
     * step and the planning of what it has dispatched. A run of a code host that was reopened, by whomever, is looked at there as well: the publisher
     * may have done with it.
     */
    async ensure(run: Run): Promise<void> {
      const before = lastAdded.get(run.runId)
      const added: typeof before = new Map()
      for (const { queue, look } of [...stageJobs(run), ...conductorJobs(run)]) {
        const last = before?.get(queue)
        added.set(queue, last ?? { look, at: -Infinity })
        if (last?.look === look && performance.now() - last.at < everyMs) continue
        added.set(queue, { look, at: performance.now() })
        const job = { run_id: run.runId, traceparent: run.traceparent }
        await producer.add(queue, run.runId, job)
        // Once for each stage: the publisher itself says when it looks again.
        const isPublished = run.reopenedAt !== null && run.request.repository !== undefined
        if (isPublished && look === queue && last === undefined) await producer.add('publications', run.runId, job)
      }
      lastAdded.set(run.runId, added)
    },
  }
}

function stageJobs(run: Run): StageJob[] {
  const queue = queueOf(run)
  return queue === undefined ? [] : [{ queue, look: queue }]
}

function queueOf(run: Run): 'snapshots' | 'discoveries' | 'setups' | 'compositions' | undefined {
  if (isEnded(run.status)) return undefined
  if (run.phase === 'snapshot') return 'snapshots'
  if (run.environment?.kind === 'wanted' && run.phase === 'planning') return 'setups'
  if (run.phase === 'discovery' || run.phase === 'planning') return 'discoveries'
  return run.phase === 'review' ? 'compositions' : undefined
}

/** A conductor has a step when there is something to hear, or when nothing goes on and it waits for nobody who would tell it. */
function conductorJobs({ status, phase, stop, conductor, counts, usedBudgets }: Run): StageJob[] {
  if (isEnded(status) || phase !== 'execution' || stop !== null || conductor?.kind !== 'open') return []
  const { version, messages, planning, waits } = conductor
  const [next] = planning
  const open = counts.pending + counts.ready + counts.dispatched + counts.running + counts.waiting
  const maySay = waits === null || waits.kind === 'models' || (waits.kind === 'budget' && usedBudgets.length === 0)
  const isIdle = next === undefined && open === 0 && maySay
  const jobs: StageJob[] = next === undefined ? [] : [{ queue: 'discoveries', look: `${next.item_id} ${next.version}` }]
  // A model that is away, or breaks off, is not asked sooner for what has changed meanwhile.
  const look = waits?.kind === 'models' ? waits.kind : `${version} ${messages} ${isIdle}`
  if (messages > 0 || isIdle) jobs.push({ queue: 'conductor', look })
  return jobs
}
