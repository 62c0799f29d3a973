import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { AppError, asAppError, type ErrorCode } from '#domain/error.ts'
import { openSemaphore } from './limit-concurrency.ts'

type Asked<Question> = { id: number; question: Question }
type Answered<Report> = { id: number; report: Report } | { id: number; fault: Fault }
type Fault = { code: ErrorCode; message: string; phase: string | undefined }

/**
 * Returns a port through which another thread asks this one; transfer it there. At most `atOnce` questions are answered at a time and
 * the others wait in order, so that they do not fill the queue of whatever answers them. Ends when the other side closes the port or dies.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- callers name their protocol: messages are untyped
export function openAnswerPort<Question, Report>(
  answer: (question: Question) => Promise<Report>,
  atOnce: number,
): MessagePort {
  const { port1: own, port2: other } = new MessageChannel()
  const [turns, closed] = [openSemaphore(atOnce), new AbortController()]
  const refuse = (id: number, error: unknown) => {
    own.postMessage({ id, fault: faultIn(asAppError(error, 'TOOL_004')) } satisfies Answered<Report>)
  }
  const answerOne = async ({ id, question }: Asked<Question>) => {
    const release = await turns.acquire(closed.signal)
    try {
      own.postMessage({ id, report: await answer(question) } satisfies Answered<Report>)
    } catch (error) {
      refuse(id, error)
    } finally {
      release()
    }
  }
  // Only a port that was closed while the question waited rejects, and then nobody waits for its answer.
  own.on('message', (asked: Asked<Question>) => void answerOne(asked).catch(() => {}))
  own.on('close', () => closed.abort())
  own.unref()
  return other
}

/**
 * Asks through a port of `openAnswerPort`. Throws the faults of the other side with their code, message and phase; TOOL_004 when the port
 * is closed.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- callers name their protocol: messages are untyped
export function askThroughPort<Question, Report>(port: MessagePort): (question: Question) => Promise<Report> {
  const asked = new Map<number, PromiseWithResolvers<Report>>()
  let last = 0
  let isClosed = false
  const closedPort = () => new AppError('TOOL_004', 'the thread that answers has ended')
  port.on('message', (answered: Answered<Report>) => {
    const one = asked.get(answered.id)
    asked.delete(answered.id)
    if ('report' in answered) one?.resolve(answered.report)
    else one?.reject(new AppError(answered.fault.code, answered.fault.message, phaseOf(answered.fault)))
  })
  port.on('close', () => {
    isClosed = true
    for (const one of asked.values()) one.reject(closedPort())
    asked.clear()
  })
  return async (question) => {
    if (isClosed) throw closedPort()
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
