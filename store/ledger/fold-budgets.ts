import { z } from 'zod'
import type { Event } from '#domain/event.ts'
import type { OperationId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { OperationAccount, Violation } from './accounts.ts'

const Tokens = z.object({ prompt_tokens: z.int().default(0), completion_tokens: z.int().default(0) })
export type BudgetsFold = ReturnType<typeof foldBudgets>

const OfBudget = z.object({ of: z.string() })
/** Names the answers of models whose tokens count: to operations, to the conductor, to the watcher, and to asks. */
const answers: ReadonlySet<string> = new Set([
  'model.responded',
  'agenda.decided',
  'conductor.decided',
  'objective.refined',
  'conductor.failed',
  'watcher.reviewed',
  'watcher.failed',
  'ask.answered',
  'ask.failed',
])
type Seen = Pick<Run, 'tokensIn' | 'tokensOut' | 'tokensBesides' | 'usedBudgets' | 'reserved'>

/** Compares what a run has used and has reserved, and the budgets that are used up, with its events (invariant 2). */
export function foldBudgets() {
  const over = new Set<string>()
  const faults: string[] = []
  const tokens = { in: 0, out: 0, besides: 0 }
  const requests = foldReservations(faults)

  function take(event: Event): void {
    const { event: name, seq, data } = event
    const used = answers.has(name) ? Tokens.safeParse(data).data : undefined
    tokens.in += used?.prompt_tokens ?? 0
    tokens.out += used?.completion_tokens ?? 0
    const all = (used?.prompt_tokens ?? 0) + (used?.completion_tokens ?? 0)
    if (name !== 'model.responded') tokens.besides += all
    requests.take(event, all)
    if (name !== 'budget.reached' && name !== 'budget.renewed') return
    const { of } = OfBudget.parse(data)
    const isNew = over.has(of) !== (name === 'budget.reached')
    if (!isNew)
      faults.push(`event ${seq} ${name}: the budget of the ${of} was ${over.has(of) ? '' : 'not '}used up before`)
    if (name === 'budget.reached') over.add(of)
    else over.delete(of)
  }

  /** `besides`: what the conductor's step and the watch have reserved. */
  function violations(run: Seen, accounts: ReadonlyMap<OperationId, OperationAccount>, besides: readonly number[]) {
    const { tokensIn, tokensOut, tokensBesides, usedBudgets } = run
    const messages = [...faults, ...requests.faults(run, accounts, besides)]
    const [counted, folded] = [`${tokensIn} and ${tokensOut}`, `${tokens.in} and ${tokens.out}`]
    if (counted !== folded) messages.push(`the run has counted ${counted} tokens, its events have ${folded}`)
    if (tokensBesides !== tokens.besides)
      messages.push(`${tokensBesides} tokens are counted besides those of agents, its events have ${tokens.besides}`)
    const holding = usedBudgets.filter(({ holds }) => holds)
    const [is, told] = [holding.map(({ of }) => of).toSorted(), [...over].toSorted()]
    if (is.join() !== told.join())
      messages.push(`something is held for the budgets of ${namesOf(is)}, by its events of ${namesOf(told)}`)
    return messages.map((message): Violation => ({ invariant: 2, message }))
  }

  return { take, violations, isUsedUp: () => over.size > 0 }
}

const Reserved = z.object({ reserved: z.int().optional() })
const Exceeded = z.object({ reported: z.int() })

/** What an operation's request has reserved, while it is open; what its answer has used beyond that, until an event says so. */
type Request = { reserved?: number | undefined; untold?: number }

function foldReservations(faults: string[]) {
  const requests = new Map<OperationId, Request>()
  function take({ event, seq, data, operationId: id }: Event, used: number): void {
    if (id === undefined) return
    const { reserved, untold } = requests.get(id) ?? {}
    if (event === 'model.responded') {
      requests.set(id, reserved !== undefined && used > reserved ? { untold: used } : {})
    } else if (event === 'model.requested') {
      if (untold !== undefined) faults.push(`event ${seq} ${event}: no event says that ${untold} tokens were too many`)
      requests.set(id, Reserved.parse(data))
    } else if (event === 'budget.exceeded_by_server') {
      const { reported } = Exceeded.parse(data)
      if (untold !== reported) faults.push(`event ${seq} ${event}: ${reported} tokens were not too many`)
      requests.delete(id)
    } else if (event === 'operation.started') requests.delete(id)
  }
  function violationsOf(
    { reserved }: Seen,
    accounts: ReadonlyMap<OperationId, OperationAccount>,
    besides: readonly number[],
  ): string[] {
    const found = [...accounts].flatMap(([id, { status, reserved: own }]) => {
      if (own > 0 && status !== 'dispatched' && status !== 'running')
        return [`operation ${id} is ${status} and has ${own} tokens reserved`]
      const told = status === 'running' ? requests.get(id)?.reserved : undefined
      return told === undefined || told === own
        ? []
        : [`operation ${id} has ${own} tokens reserved, its events say ${told}`]
    })
    const all = [...accounts.values().map((account) => account.reserved), ...besides]
    const sum = all.reduce((total, tokens) => total + tokens, 0)
    return sum === reserved ? found : [...found, `${reserved} tokens are counted as reserved, ${sum} are`]
  }
  return { take, faults: violationsOf }
}

function namesOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(' and ')
}
