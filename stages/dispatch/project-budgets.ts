import { LRUCache } from 'lru-cache'
import { isExecuting, type Run } from '#domain/run.ts'
import type { SpentDay } from '#store/ledger/budgets.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Log } from '#platform/log.ts'

export type ProjectBudgetsDeps = {
  ledger: Pick<Ledger, 'countSpent' | 'noteProjectBudget'>
  /** Milliseconds since the epoch, by a clock that all dispatchers share: it says when a day ends. */
  now(): Promise<number>
  log: Pick<Log, 'info'>
}

export type ProjectBudgets = ReturnType<typeof openProjectBudgets>

/** A run whose project has no budget is looked at so often, since it may get one. */
const everyMs = 1000
const maxRuns = 10_000

/**
 * Counts what runs use for the day of their project, and tells the ledger which runs wait until that day is over. Logs when a run is
 * held for a budget, its own too, and when it goes on.
 */
export function openProjectBudgets({ ledger, now, log }: ProjectBudgetsDeps) {
  const counted = new LRUCache<string, { at: number; tokens: number }>({ max: maxRuns })
  const spentBy = new LRUCache<string, SpentDay>({ max: maxRuns })
  const logOwn = ownBudgetNotices(log)
  const isDue = (run: Run) => {
    const last = counted.get(run.runId)
    if (!isExecuting(run)) return (last?.tokens ?? 0) !== run.tokens
    const isLimited = spentBy.get(run.projectId)?.limit !== null
    return isLimited || last === undefined || performance.now() - last.at >= everyMs
  }
  return {
    /** All runs of a round before any of them goes on, and a run before it ends: what was used must be counted by then. */
    async count(runs: readonly Run[]): Promise<void> {
      const due = runs.filter(isDue)
      if (due.length === 0) return
      const nowMs = await now()
      // Answers come in the order of the commands: the last one of a project has counted all.
      const spent = await Promise.all(due.map((run) => ledger.countSpent(run, nowMs)))
      for (const [at, run] of due.entries()) {
        counted.set(run.runId, { at: performance.now(), tokens: run.tokens })
        const ofDay = spent[at]
        if (ofDay !== undefined) spentBy.set(run.projectId, ofDay)
      }
    },
    /** Has to be called in every round. */
    async note(run: Run): Promise<void> {
      logOwn(run)
      const spent = spentBy.get(run.projectId)
      if (!isExecuting(run) || spent === undefined) return
      const before = run.usedBudgets.find(({ of }) => of === 'project')
      const { used, limit, resetsAt } = spent
      const over = limit === null || used < limit ? undefined : { limit, used, resetsAt }
      if (over?.limit === before?.limit && over?.used === before?.used && over?.resetsAt === before?.resetsAt) return
      if ((over === undefined) !== (before === undefined)) {
        const { runId: run_id, projectId: project_id } = run
        const words =
          over === undefined
            ? 'the project of a run has tokens for today again'
            : 'the project of a run has used its tokens for today: nothing more that needs a model starts'
        log.info(words, { run_id, project_id, used, limit })
      }
      await ledger.noteProjectBudget(run.runId, over)
    },
  }
}

/** Logs when the ledger itself holds a run for its own budget, and when that goes on. */
function ownBudgetNotices(log: Pick<Log, 'info'>) {
  const held = new LRUCache<string, true>({ max: maxRuns })
  return ({ runId, projectId, tokens: used, budget: limit, usedBudgets }: Run): void => {
    const isHeld = usedBudgets.some(({ of, holds }) => of === 'run' && holds)
    if (isHeld === held.has(runId)) return
    if (isHeld) held.set(runId, true)
    else held.delete(runId)
    const spentText = 'a run has used its budget: nothing more that needs a model starts'
    log.info(isHeld ? spentText : 'a run has tokens again', { run_id: runId, project_id: projectId, used, limit })
  }
}
