import { z } from 'zod'
import type { Event } from '#domain/event.ts'
import type { Run } from '#domain/run.ts'
import type { Violation } from './accounts.ts'

const Tokens = z.object({ prompt_tokens: z.int().default(0), completion_tokens: z.int().default(0) })
export type BudgetsFold = ReturnType<typeof foldBudgets>

const OfBudget = z.object({ of: z.string() })

/** Compares what a run has used, and the budgets that are used up, with its events (invariant 2). */
export function foldBudgets() {
  const over = new Set<string>()
  const faults: string[] = []
  let tokens = 0

  function take({ event, seq, data }: Event): void {
    if (event === 'model.responded') {
      const used = Tokens.safeParse(data).data
      tokens += (used?.prompt_tokens ?? 0) + (used?.completion_tokens ?? 0)
    }
    if (event !== 'budget.reached' && event !== 'budget.renewed') return
    const { of } = OfBudget.parse(data)
    const isNew = over.has(of) !== (event === 'budget.reached')
    if (!isNew)
      faults.push(`event ${seq} ${event}: the budget of the ${of} was ${over.has(of) ? '' : 'not '}used up before`)
    if (event === 'budget.reached') over.add(of)
    else over.delete(of)
  }

  function violations({ tokens: counted, usedBudgets }: Pick<Run, 'tokens' | 'usedBudgets'>) {
    const messages = [...faults]
    if (counted !== tokens) messages.push(`the run has counted ${counted} tokens, its events have ${tokens}`)
    const holding = usedBudgets.filter(({ holds }) => holds)
    const [is, folded] = [holding.map(({ of }) => of).toSorted(), [...over].toSorted()]
    if (is.join() !== folded.join())
      messages.push(`something is held for the budgets of ${namesOf(is)}, by its events of ${namesOf(folded)}`)
    return messages.map((message): Violation => ({ invariant: 2, message }))
  }

  return { take, violations, isUsedUp: () => over.size > 0 }
}

function namesOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(' and ')
}
