import { z } from 'zod'
import type { Event } from '#domain/event.ts'
import type { EventName } from '#domain/events/event-table.ts'
import type { Question } from '#domain/question.ts'
import type { Run } from '#domain/run.ts'
import type { BudgetsFold } from './fold-budgets.ts'
import type { FoldedStatus, OperationsFold } from './fold-operations.ts'
import type { OperationAccount, Violation } from './accounts.ts'

type Accounts = ReadonlyMap<string, OperationAccount>
type Folded = Pick<Question, 'operationId' | 'status'>
/** `allowed`: the tools that are allowed for the run. */
type Kept = { questions: readonly Question[]; allowed: ReadonlySet<string> }

const RequestData = z.object({ request_id: z.string() })
const WaitingData = z.object({ questions: z.int() })
const AwayData = z.object({ model: z.string() })
const isEnd = (name: EventName) => /^run\.(?:completed|failed|blocked|cancelled)$/.test(name)
const busyStatuses: readonly FoldedStatus[] = ['ready', 'dispatched', 'running']

/**
 * Checks the questions of a run, and whether it waits for nothing but answers, models and budgets. `operations` and `budgets`
 * must take each event first. A run waits from `run.waiting` to the next `operation.*` or `models.back`, or until no budget is
 * used up any more.
 */
export function foldQuestions(operations: Pick<OperationsFold, 'count'>, budgets: Pick<BudgetsFold, 'isUsedUp'>) {
  const folded = new Map<string, Folded>()
  /** By operation; questions about the run by themselves. */
  const openOf = new Map<string, string>()
  const faults: string[] = []
  const away = new Set<string>()
  let isWaiting = false

  function take(event: Event): void {
    const { event: name, operationId = '' } = event
    if (name === 'run.waiting') {
      isWaiting = true
      faults.push(...waitingFaults(event, operations, { mayHold: away.size > 0 || budgets.isUsedUp() }))
    } else if (name.startsWith('operation.') || name === 'models.back') isWaiting = false
    else if (name === 'budget.renewed' && !budgets.isUsedUp()) isWaiting = false
    if (name === 'models.away' || name === 'models.back') faults.push(...noteModel(event, away))
    const request = RequestData.safeParse(event.data).data?.request_id
    if (name === 'human_input.requested' && request !== undefined) {
      folded.set(request, { operationId: event.operationId ?? null, status: 'open' })
      openOf.set(event.operationId ?? request, request)
      if (request !== `q${folded.size}`) faults.push(`event ${event.seq} asks ${request} as number ${folded.size}`)
    }
    if (name === 'human_input.answered') close(event.operationId ?? request ?? '', 'answered')
    if (isEnd(name)) for (const [of, asked] of openOf) if (of === asked) close(of, 'expired')
    if (name === 'operation.ended') close(operationId, 'expired')
    if (name === 'operation.skipped') close(operationId, 'cancelled')
  }

  function close(of: string, status: Question['status']): void {
    const request = openOf.get(of)
    if (request === undefined) return
    openOf.delete(of)
    folded.set(request, { operationId: of === request ? null : of, status })
  }

  function violations(run: Pick<Run, 'status'>, accounts: Accounts, { questions, allowed }: Kept): Violation[] {
    const open = compareOpen(questions, accounts)
    const messages = [...faults, ...compare(questions, folded), ...open, ...compareAllowed(questions, allowed)]
    const isSaid = run.status === 'waiting'
    if ((isSaid || run.status === 'running') && isSaid !== isWaiting) {
      messages.push(`the run is ${run.status}, its events say that it ${isWaiting ? 'waits' : 'goes on'}`)
    }
    return messages.map((message) => ({ invariant: 2, message }))
  }

  return { take, violations }
}

function noteModel({ event: name, seq, data }: Event, away: Set<string>): string[] {
  const { model } = AwayData.parse(data)
  const isNew = name === 'models.away' ? !away.has(model) : away.delete(model)
  if (name === 'models.away') away.add(model)
  return isNew ? [] : [`event ${seq} ${name} of ${model}, which was ${name === 'models.away' ? 'away' : 'not'} before`]
}

/** Ready operations may be held while a model is away or a budget is used up. */
function waitingFaults(event: Event, { count }: Pick<OperationsFold, 'count'>, { mayHold }: { mayHold: boolean }) {
  const total = WaitingData.safeParse(event.data).data?.questions
  const busy = busyStatuses.filter((status) => count(status) > 0 && !(mayHold && status === 'ready'))
  return [
    ...(total === count('waiting')
      ? []
      : [`event ${event.seq} counts ${total} questions, ${count('waiting')} are open`]),
    ...(busy.length === 0 ? [] : [`event ${event.seq} run.waiting: operations are ${busy.join(' and ')}`]),
  ]
}

function compare(questions: readonly Question[], folded: ReadonlyMap<string, Folded>): string[] {
  const kept = new Map(questions.map((question) => [question.requestId, question]))
  const names = [...new Set([...kept.keys(), ...folded.keys()])]
  return names.flatMap((name) => {
    const [is, inEvents] = [describe(kept.get(name)), describe(folded.get(name))]
    return is === inEvents ? [] : [`question ${name} is ${is}, its events say ${inEvents}`]
  })
}

function describe(question: Folded | undefined): string {
  return question === undefined ? 'not there' : `${question.status}, of operation ${question.operationId}`
}

/** Only the answers of people allow a tool for the run. */
function compareAllowed(questions: readonly Question[], allowed: ReadonlySet<string>): string[] {
  const answers = questions.filter(({ answer }) => answer?.verdict === 'allow_for_run')
  const due = new Set(answers.map(({ call }) => call?.tool ?? ''))
  const other = [...new Set([...due, ...allowed])].filter((tool) => due.has(tool) !== allowed.has(tool))
  return other.map((tool) => {
    const is = allowed.has(tool) ? 'allowed' : 'not allowed'
    return `the tool ${tool} is ${is} for the run, its questions say otherwise`
  })
}

/** Each open question has exactly one operation that waits for it, and each waiting operation an open question. */
function compareOpen(questions: readonly Question[], accounts: Accounts): string[] {
  const open = new Map(
    questions.flatMap(({ status, requestId, operationId }) =>
      status === 'open' && operationId !== null ? [[requestId, operationId]] : [],
    ),
  )
  const faults: string[] = []
  for (const [id, { status, question }] of accounts) {
    if (status !== 'waiting' || question === 'tool') continue
    if (open.get(question ?? '') !== id) faults.push(`operation ${id} waits for ${question}, which is not open for it`)
    open.delete(question ?? '')
  }
  for (const [request, id] of open) faults.push(`question ${request} is open, operation ${id} does not wait for it`)
  return faults
}
