import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { AppError, asAppError, type ErrorCode } from '#domain/error.ts'
import { openSemaphore } from './limit-concurrency.ts'

type Asked<Question> = { id: number; question: Question }
type Answered<Report> = { id: number; report: Report } | { id: number; fault: Fault }
type Fault = { code: ErrorCode; message: string; phase: string | undefined }

/**
 * Gives a port by which another thread may ask this one: it is to be transferred there. `atOnce` questions are answered at a time, the
 * others wait in their order, so that they do not fill the queues of whatever answers. Ends when the other side closes the port, or dies.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- callers name their protocol: messages are untyped
export function lendAnswers<Question, Report>(
  answer: (question: Question) => Promise<Report>,
  atOnce: number,
): MessagePort {
  const { port1: own, port2: lent } = new MessageChannel()
  const [turns, closed] = [openSemaphore(atOnce), new AbortController()]
  const answerOne = async ({ id, question }: Asked<Question>) => {
    const release = await turns.acquire(closed.signal)
    const answered: Answered<Report> = await answer(question).then(
      (report) => ({ id, report }),
      (error: unknown) => ({ id, fault: faultIn(asAppError(error, 'TOOL_004')) }),
    )
    release()
    own.postMessage(answered)
  }
  own.on('message', (asked: Asked<Question>) => void answerOne(asked).catch(() => {})) // it fails only when the port is closed
  own.on('close', () => closed.abort())
  own.unref()
  return lent
}

/** Asks by a port that `lendAnswers` has made. Throws the faults of the other side with their code, message and phase. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- callers name their protocol: messages are untyped
export function borrowAnswers<Question, Report>(port: MessagePort): (question: Question) => Promise<Report> {
  const asked = new Map<number, PromiseWithResolvers<Report>>()
  let last = 0
  port.on('message', (answered: Answered<Report>) => {
    const one = asked.get(answered.id)
    asked.delete(answered.id)
    if ('report' in answered) one?.resolve(answered.report)
    else one?.reject(new AppError(answered.fault.code, answered.fault.message, phaseOf(answered.fault)))
  })
  return (question) => {
    const answer = Promise.withResolvers<Report>()
    last += 1
    asked.set(last, answer)
    port.postMessage({ id: last, question } satisfies Asked<Question>)
    return answer.promise
  }
}

function faultIn({ code, message, phase }: AppError): Fault {
  return { code, message, phase }
}

function phaseOf({ phase }: Fault): { phase?: string } {
  return phase === undefined ? {} : { phase }
}
