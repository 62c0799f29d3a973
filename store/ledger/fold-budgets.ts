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
  const tokens = { in: 0, out: 0 }

  function take({ event, seq, data }: Event): void {
    if (event === 'model.responded') {
      const used = Tokens.safeParse(data).data
      tokens.in += used?.prompt_tokens ?? 0
      tokens.out += used?.completion_tokens ?? 0
    }
    if (event !== 'budget.reached' && event !== 'budget.renewed') return
    const { of } = OfBudget.parse(data)
    const isNew = over.has(of) !== (event === 'budget.reached')
    if (!isNew)
      faults.push(`event ${seq} ${event}: the budget of the ${of} was ${over.has(of) ? '' : 'not '}used up before`)
    if (event === 'budget.reached') over.add(of)
    else over.delete(of)
  }

  function violations({ tokensIn, tokensOut, usedBudgets }: Pick<Run, 'tokensIn' | 'tokensOut' | 'usedBudgets'>) {
    const messages = [...faults]
    const [counted, folded] = [`${tokensIn} and ${tokensOut}`, `${tokens.in} and ${tokens.out}`]
    if (counted !== folded) messages.push(`the run has counted ${counted} tokens, its events have ${folded}`)
    const holding = usedBudgets.filter(({ holds }) => holds)
    const [is, told] = [holding.map(({ of }) => of).toSorted(), [...over].toSorted()]
    if (is.join() !== told.join())
      messages.push(`something is held for the budgets of ${namesOf(is)}, by its events of ${namesOf(told)}`)
    return messages.map((message): Violation => ({ invariant: 2, message }))
  }

  return { take, violations, isUsedUp: () => over.size > 0 }
}

function namesOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(' and ')
}
