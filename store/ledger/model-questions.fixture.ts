import type { RunId } from '#domain/ids.ts'
import type { AskedQuestion } from '#domain/question.ts'
import type { Attempt } from './attempt.ts'
import {
  cancelOperation,
  change,
  goOn,
  isStopped,
  makeReady,
  operationOf,
  pickFrom,
  saidIn,
  type LedgerModel,
  type ModelAnswer,
  type ModelQuestion,
} from './ledger-model.fixture.ts'
import type { Ledger } from './ledger.ts'
import { orFault, turnFinished, type Write } from './model-commands.fixture.ts'

type OfRun = { model: LedgerModel; runId: RunId }
type OfWriters = { model: LedgerModel; writers: readonly Write[]; attempts: ReadonlyMap<string, Attempt> }
type Prepared = { expect(): unknown; send(ledger: Ledger): Promise<unknown> }

const origin = { kind: 'discovery', id: 'test' } as const

/** Asks for a text, for one of two, or for the approval of a call. */
export function questionFor(pick: number): AskedQuestion {
  if (pick % 3 === 2) return { text: 'May it?', choices: null, call: { tool: 'write', arguments: '{"lines":[]}' } }
  return { text: 'Shall I?', choices: pick % 3 === 0 ? ['yes', 'no'] : null }
}

/** Without a question it waits for a tool. */
export function suspendModel(model: LedgerModel, write: Write, question: AskedQuestion | undefined): unknown {
  const one = operationOf(model, write.operationId)
  if (one.token !== write.token) return { kind: 'lost' }
  if (one.status !== 'running') return { kind: 'already' }
  one.n = write.n
  model.events.push(turnFinished(one.id))
  if (model.stop === null && question === undefined) {
    one.asked = { requestId: 'tool', operationId: one.id, status: 'open', timeIsOver: false, isCall: false }
    model.events.push({ event: 'operation.suspended', operationId: one.id, attempt: one.attempt })
    change(model, one, 'waiting', 'suspend')
  } else if (model.stop === null) {
    const requestId = `q${model.questions.length + 1}`
    one.asked = {
      requestId,
      operationId: one.id,
      status: 'open',
      timeIsOver: false,
      isCall: question?.call !== undefined,
    }
    model.questions.push(one.asked)
    for (const event of ['human_input.requested', 'operation.suspended']) {
      model.events.push({ event, operationId: one.id, attempt: one.attempt })
    }
    change(model, one, 'waiting', 'suspend')
    wakeAllowed(model)
  } else cancelOperation(model, one, 'suspend')
  goOn(model)
  return { kind: 'suspended' }
}

/** The tool still runs, or with `ends` is over. */
function awaitToolModel(model: LedgerModel, { operationId, token }: Write, ends: boolean): string {
  const one = operationOf(model, operationId)
  if (one.status !== 'waiting' || one.asked?.requestId !== 'tool' || one.token !== token || isStopped(model))
    return 'lost'
  one.asked.timeIsOver = false
  if (!ends) return 'ok'
  makeReady(model, one, 'await tool')
  model.events.push({ event: 'operation.resumed', operationId })
  goOn(model)
  return 'ok'
}

/** `requestId status` and what was said, or the code of the refusal. */
function resumeModel(model: LedgerModel, requestId: string, answer: ModelAnswer): string {
  const question = model.questions.find((one) => one.requestId === requestId)
  if (question === undefined) return 'ASK_001'
  if (question.answer?.command === answer.command) return `${requestId} answered ${saidIn(question.answer)}`
  if (isStopped(model)) return 'RUN_007'
  if (question.status === 'answered') return 'ASK_002'
  if (question.status !== 'open' || question.timeIsOver) return 'ASK_003'
  if (question.isCall !== (answer.verdict !== undefined)) return 'ASK_005'
  giveAnswer(model, question, answer)
  model.isAllowed ||= answer.verdict === 'allow_for_run'
  wakeAllowed(model)
  goOn(model)
  return `${requestId} answered ${saidIn(answer)}`
}

function giveAnswer(model: LedgerModel, question: ModelQuestion, answer: ModelAnswer): void {
  question.status = 'answered'
  question.answer = answer
  makeReady(model, operationOf(model, question.operationId), 'resume')
  for (const event of ['human_input.answered', 'operation.resumed']) {
    model.events.push({ event, operationId: question.operationId })
  }
}

/** All calls are of one tool of one bundle. */
function wakeAllowed(model: LedgerModel): void {
  if (!model.isAllowed) return
  const due = model.questions.filter(({ status, isCall, timeIsOver }) => status === 'open' && isCall && !timeIsOver)
  for (const question of due) giveAnswer(model, question, { text: '', verdict: 'allow_for_run', command: '' })
}

const texts = [{ text: 'yes' }, { text: 'no' }] as const
const verdicts = [
  { text: '', verdict: 'allow' },
  { text: 'not now', verdict: 'deny' },
  { text: '', verdict: 'allow_for_run' },
] as const
/** With a pick above, the answer is of the other kind. */
const lastFitting = 900

export const questionActs = {
  /** The worker of any attempt; after an odd pick its tool has ended. */
  awaitTool({ model, writers, attempts }: OfWriters, pick: number): Prepared | undefined {
    const write = pickFrom(writers, pick)
    const attempt = attempts.get(write?.token ?? '')
    if (write === undefined || attempt === undefined) return undefined
    const record = pick % 2 === 1 ? 'the-end' : ''
    return {
      expect: () => awaitToolModel(model, write, record !== ''),
      send: (ledger) => ledger.awaitTool(attempt, record),
    }
  },
  /** One of the questions, or one that nobody has asked. */
  resume({ model, runId }: OfRun, pick: number): Prepared {
    const requestId = `q${(pick % (model.questions.length + 1)) + 1}`
    const isCall = model.questions.find((one) => one.requestId === requestId)?.isCall === true
    const fitting = isCall === pick <= lastFitting ? pickFrom(verdicts, pick) : pickFrom(texts, pick)
    const answer = { ...(fitting ?? texts[0]), command: `answer ${pick % 4}` }
    return {
      expect: () => resumeModel(model, requestId, answer),
      send: (ledger) =>
        orFault(
          ledger
            .resume(runId, { ...answer, requestId, by: origin })
            .then((one) => `${one.requestId} ${one.status} ${saidIn(one.answer)}`),
        ),
    }
  },
}
