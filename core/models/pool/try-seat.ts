import type { ModelReply, ModelRequest } from '#domain/turn.ts'
import { msSince } from '#platform/clock.ts'
import type { Turnstile } from '#platform/turnstile.ts'
import { fromOpenAi } from '../wire/from-openai.ts'
import { toTryFailure } from '../wire/try-failure.ts'
import type { Tried } from './complete-within.ts'
import type { Endpoint } from './endpoint.ts'
import { seatEndOf } from './seat-end.ts'
import type { Seat } from './seat.ts'

/**
 * Sends a request from a seat, which is left when the answer has come. Answers that came together are worked on one by one:
 * what waited for their places is sent first. Does not reject.
 */
export async function trySeat(
  seat: Seat,
  request: ModelRequest,
  signal: AbortSignal,
  answers: Turnstile,
): Promise<Tried> {
  const { replica } = seat
  try {
    const reply = await readReply(askEndpoint(replica.endpoint, request, signal).finally(seat.vacate), request, answers)
    seat.tell('good')
    return { replica, sent: 1, reply }
  } catch (error) {
    const failure = toTryFailure(error)
    seat.tell(signal.aborted ? 'left' : seatEndOf(failure))
    return { replica, sent: 1, failure }
  }
}

async function askEndpoint(endpoint: Endpoint, request: ModelRequest, signal: AbortSignal) {
  const capabilities = await endpoint.capabilities(request.model, signal)
  return endpoint.ask(request, capabilities, signal)
}

async function readReply(
  asked: ReturnType<typeof askEndpoint>,
  request: ModelRequest,
  answers: Turnstile,
): Promise<Omit<ModelReply, 'endpoint' | 'tries'>> {
  const start = performance.now()
  const { raw, ...how } = await asked
  const latencyMs = msSince(start)
  await answers.pass()
  return { ...fromOpenAi(raw, request), ...how, latencyMs }
}
