import type { RunId } from '#domain/ids.ts'
import { goOn, isStopped, withStatus, type LedgerModel } from './ledger-model.fixture.ts'
import type { Ledger } from './ledger.ts'

type OfRun = { model: LedgerModel; runId: RunId }
type Prepared = { expect(): unknown; send(ledger: Ledger): Promise<unknown> }

const hasHeld = (model: LedgerModel) => withStatus(model, 'ready').some((one) => one.isHeld)

export function tellOver(model: LedgerModel): void {
  if (!hasHeld(model)) return
  for (const of of model.over) {
    if (!model.told.has(of)) model.events.push({ event: 'budget.reached' })
    model.told.add(of)
  }
}

function noteOver(model: LedgerModel, of: 'run' | 'project', isOver: boolean): void {
  if (isOver) {
    model.over.add(of)
    return tellOver(model)
  }
  model.over.delete(of)
  if (!model.told.delete(of)) return
  model.events.push({ event: 'budget.renewed' })
  if (model.told.size > 0) return
  model.hasChanged = true
  model.wakes ||= hasHeld(model)
}

export function noteOwnBudget(model: LedgerModel): void {
  noteOver(model, 'run', model.budget !== null && model.tokens >= model.budget)
}

function setBudgetModel(model: LedgerModel, budget: number | null): string {
  if (isStopped(model)) return 'ended'
  if (budget === model.budget) return 'set'
  model.budget = budget
  model.events.push({ event: 'budget.set' })
  noteOwnBudget(model)
  goOn(model)
  return 'set'
}

function noteProjectModel(model: LedgerModel, isOver: boolean): void {
  if (isStopped(model)) return
  noteOver(model, 'project', isOver)
  goOn(model)
}

export const budgetActs = {
  /** None, one that is used up, or one that is not yet. */
  setBudget({ model, runId }: OfRun, pick: number): Prepared {
    const tokens = [null, Math.max(1, model.tokens), model.tokens + 15][pick % 3] ?? null
    const origin = { kind: 'api', id: 'test' } as const
    return {
      expect: () => setBudgetModel(model, tokens),
      send: (ledger) => ledger.setBudget(runId, { tokens, origin }),
    }
  },
  /** The project has used up its day after an even pick, and has a new one after an odd one. */
  noteProject({ model, runId }: OfRun, pick: number): Prepared {
    const used = pick % 2 === 0 ? { limit: 5, used: 6, resetsAt: 7 } : undefined
    return {
      expect: () => noteProjectModel(model, used !== undefined),
      send: (ledger) => ledger.noteProjectBudget(runId, used),
    }
  },
}
