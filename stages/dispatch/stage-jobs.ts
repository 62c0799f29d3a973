import { LRUCache } from 'lru-cache'
import type { RunId } from '#domain/ids.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { QueueName } from '#store/queues/catalog.ts'
import type { Producer } from '#store/queues/producer.ts'

export type StageJobs = ReturnType<typeof openStageJobs>

/** A stage's job is added again this often while the run stays in the stage; its id makes it one job. */
const everyMs = 2000
const maxRemembered = 10_000

export function openStageJobs(producer: Pick<Producer, 'add'>) {
  const lastAdded = new LRUCache<RunId, { queue: QueueName; at: number }>({ max: maxRemembered })
  return {
    /**
     * Ensures that a run between operations has the job of its stage, even if the last one was lost. One of a code host that was reopened, by whomever, is
     * looked at there as well: the publisher may have done with it.
     */
    async ensure(run: Run): Promise<void> {
      const queue = queueOf(run)
      const last = lastAdded.get(run.runId)
      if (queue === undefined || (last?.queue === queue && performance.now() - last.at < everyMs)) return
      lastAdded.set(run.runId, { queue, at: performance.now() })
      const job = { run_id: run.runId, traceparent: run.traceparent }
      const isPublished = run.reopenedAt !== null && run.request.repository !== undefined
      await producer.add(queue, run.runId, job)
      // Once for each stage: the publisher itself says when it looks again.
      if (isPublished && last?.queue !== queue) await producer.add('publications', run.runId, job)
    },
  }
}

function queueOf(run: Run): 'snapshots' | 'discoveries' | 'setups' | 'compositions' | undefined {
  if (isEnded(run.status)) return undefined
  if (run.phase === 'snapshot') return 'snapshots'
  if (run.environment?.kind === 'wanted' && run.phase === 'planning') return 'setups'
  if (run.phase === 'discovery' || run.phase === 'planning') return 'discoveries'
  return run.phase === 'review' ? 'compositions' : undefined
}
