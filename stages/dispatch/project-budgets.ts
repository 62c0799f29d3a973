import { LRUCache } from 'lru-cache'
import { isExecuting, type Run } from '#domain/run.ts'
import type { GrantedDay, SpentDay, UsedDay } from '#store/ledger/budgets.ts'
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
 * Counts what runs use for the day of their project, shares what the day has left among them, and tells the ledger which runs wait until
 * it is over. Logs when a run is held for a budget, its own too, and when it goes on.
 */
export function openProjectBudgets({ ledger, now, log }: ProjectBudgetsDeps) {
  const counted = new LRUCache<string, CountedRun>({ max: maxRuns })
  const spentBy = new LRUCache<string, SpentDay>({ max: maxRuns })
  const logOwn = ownBudgetNotices(log)
  return {
    /** All runs of a round before any of them goes on, and a run before it ends: what was used must be counted by then. */
    async count(runs: readonly Run[]): Promise<void> {
      const due = runs.filter((run) => isDue(run, counted.get(run.runId), spentBy.get(run.projectId)))
      if (due.length === 0) return
      const nowMs = await now()
      const wanting = Map.groupBy(runs.filter(wantsTokens), ({ projectId }) => projectId)
      const sharersOf = (run: Run) => (wantsTokens(run) ? (wanting.get(run.projectId)?.length ?? 0) : 0)
      // Answers come in the order of the commands: the last one of a project has counted all.
      const spent = await Promise.all(
        due.map((run) => ledger.countSpent(run, { nowMs, sharers: sharersOf(run), least: leastOf(run) })),
      )
      for (const [at, run] of due.entries()) {
        const ofDay = spent[at]
        if (ofDay === undefined) continue
        counted.set(run.runId, { at: performance.now(), tokens: run.tokens, sharers: sharersOf(run), ofDay })
        spentBy.set(run.projectId, ofDay)
      }
    },
    /** Has to be called in every round. */
    async note(run: Run): Promise<void> {
      logOwn(run)
      const [spent, own] = [spentBy.get(run.projectId), counted.get(run.runId)]
      if (spent === undefined || own === undefined) return
      if (!isExecuting(run) && run.day.granted === null) return
      const before = run.usedBudgets.find(({ of }) => of === 'project')
      // A run that was counted before its project had a budget is counted again in the next round.
      const { used, limit } = own.ofDay.limit === null ? own.ofDay : spent
      const day = limit === null ? undefined : partOf(run, own, limit - used)
      const over = limit === null ? undefined : overDay(run, own, { ...spent, limit })
      const isSame = over?.limit === before?.limit && over?.used === before?.used && over?.resetsAt === before?.resetsAt
      if (isSame && !hasChanged(run, day)) return
      if ((over === undefined) !== (before === undefined)) logDay(run, over, { ...spent, used, limit }, log)
      await ledger.noteProjectBudget(run.runId, over, day)
    },
  }
}

/** Logs when a run is held for its project's day, and when that goes on. */
function logDay(run: Run, over: UsedDay | undefined, { used, limit }: SpentDay, log: Pick<Log, 'info'>): void {
  const words =
    over === undefined
      ? 'the project of a run has tokens for today again'
      : 'the project of a run has used its tokens for today: nothing more that needs a model starts'
  log.info(words, { run_id: run.runId, project_id: run.projectId, used, limit })
}

type CountedRun = { at: number; tokens: number; sharers: number; ofDay: SpentDay }

function isDue(run: Run, last: CountedRun | undefined, spent: SpentDay | undefined): boolean {
  if (run.day.granted !== null) return true
  if (!isExecuting(run)) return (last?.tokens ?? 0) !== run.tokens
  return spent?.limit !== null || last === undefined || performance.now() - last.at >= everyMs
}

/** A run that only people or models can move on wants none. */
function wantsTokens(run: Run): boolean {
  return isExecuting(run) && (run.status !== 'waiting' || run.usedBudgets.some(({ of }) => of === 'project'))
}

/** Less is of no use to it: what its requests reserve. */
function leastOf({ lacking, bound }: Run): number {
  return lacking ?? bound ?? 1
}

/** Nothing of it holds anything, and what it has of the day is too little: what others give back may be enough. */
function isShort(run: Run, { granted }: SpentDay): boolean {
  const { counts, day, tokens } = run
  return counts.dispatched + counts.running === 0 && granted - day.returned - tokens < leastOf(run)
}

/** A run that has much more of the day than its share keeps that. One that can do nothing with what it has leaves it to the others. */
function partOf(run: Run, { sharers, ofDay }: CountedRun, left: number): GrantedDay {
  const { granted } = ofDay
  if (sharers === 0 || isShort(run, ofDay)) return { granted, keep: 0 }
  const share = Math.max(leastOf(run), left / sharers)
  return { granted, keep: Math.ceil(spareOf(run, granted) > 2 * share ? share : Number.MAX_SAFE_INTEGER) }
}

function spareOf({ day, tokens, reserved }: Run, granted: number): number {
  return granted - day.returned - tokens - reserved
}

function hasChanged(run: Run, day: GrantedDay | undefined): boolean {
  if (day === undefined) return run.day.granted !== null
  return run.day.granted === null || day.granted > run.day.granted || spareOf(run, day.granted) > day.keep
}

/**
 * It has used up its day; or it is short, and no other run has anything that it could still give back. Then it waits until it has enough,
 * whatever others are given meanwhile.
 */
function overDay(run: Run, { ofDay }: CountedRun, spent: SpentDay & { limit: number }): UsedDay | undefined {
  const { limit, used, resetsAt } = spent
  if (used >= limit) return { limit, used, resetsAt }
  const waits = run.usedBudgets.some(({ of }) => of === 'project')
  if (!isExecuting(run) || !isShort(run, ofDay) || (ofDay.others > 0 && !waits)) return undefined
  return { limit, used, needs: leastOf(run), resetsAt }
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
