import type { ModelReply, ModelRequest } from '#domain/turn.ts'
import { msSince, type Clock } from '#platform/clock.ts'
import type { Turnstile } from '#platform/turnstile.ts'
import { allCapabilities, mayBeRefused } from '../wire/capabilities.ts'
import { fromOpenAi } from '../wire/from-openai.ts'
import type { Asked } from '../wire/server-line.ts'
import { toTryFailure } from '../wire/try-failure.ts'
import type { Tried } from './complete-within.ts'
import type { Endpoint } from './replicas/endpoint.ts'
import { seatEndOf } from './replicas/seat-end.ts'
import type { Seat } from './replicas/seat.ts'

/** `sending` is called when the request is sent; what had to be known before may have taken long. */
export type TrySeatDeps = { answers: Turnstile; clock: Pick<Clock, 'now'>; sending?: (() => void) | undefined }

/**
 * Sends a request from a seat, which is left when the answer has come. Answers that came together are worked on one by one:
 * what waited for their places is sent first. Does not reject.
 */
export async function trySeat(
  seat: Seat,
  request: ModelRequest,
  signal: AbortSignal,
  { answers, clock, sending }: TrySeatDeps,
): Promise<Tried> {
  const { replica } = seat
  let sentAt = clock.now()
  const asking = () => {
    sentAt = clock.now()
    sending?.()
  }
  try {
    const asked = askEndpoint(replica.endpoint, request, { signal, asking }).finally(seat.vacate)
    const reply = await readReply(asked, request, answers)
    seat.tell('good')
    return { replica, sent: 1, sentAt, reply }
  } catch (error) {
    const failure = toTryFailure(error)
    seat.tell(signal.aborted ? 'left' : seatEndOf(failure))
    return { replica, sent: 1, sentAt, failure }
  }
}

type Answered = Asked & { latencyMs: number }

/** `asking` is called when it is known what the server takes. */
async function askEndpoint(
  endpoint: Endpoint,
  request: ModelRequest,
  { signal, asking }: { signal: AbortSignal; asking: () => void },
): Promise<Answered> {
  const capabilities = mayBeRefused(request) ? await endpoint.capabilities(request.model, signal) : allCapabilities
  asking()
  const start = performance.now()
  const asked = await endpoint.ask(request, capabilities, signal)
  return { ...asked, latencyMs: msSince(start) }
}

async function readReply(
  answered: Promise<Answered>,
  request: ModelRequest,
  answers: Turnstile,
): Promise<Omit<ModelReply, 'endpoint' | 'tries'>> {
  const { raw, workarounds, ...how } = await answered
  await answers.pass()
  const reply = fromOpenAi(raw, request)
  return { ...reply, ...how, workarounds: [...workarounds, ...reply.workarounds] }
}
