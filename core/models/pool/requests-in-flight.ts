import { AppError } from '#domain/error.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { Clock } from '#platform/clock.ts'
import { toTryFailure } from '../wire/try-failure.ts'
import type { Send } from './send-request.ts'
import type { PooledServer } from './servers/pooled-server.ts'

export type RequestsInFlightOptions = {
  clock: Clock
  closing: AbortSignal
  /** Called when a server has requests of this model in flight and does not even list its models. */
  onSilent(model: string): void
}

const checkEveryMs = 5000
/** A server that was silent for so long, with requests in flight, is asked for its list of models, which costs it nothing. */
const silentMs = 15_000
const listLimitMs = 5000
/** How long a server that works again has to answer the requests from before. */
const graceMs = 2000

type Flight = { model: string; sentAt: number; abandon: AbortController }
type AtServer = { flights: Set<Flight>; heardAt: number; isChecked: boolean }

/**
 * The requests in flight. A server that hangs keeps them until their time limit, which may be minutes: it is noticed sooner by
 * a list of models that does not come, and what it still owes when it works again is given up and tried anew. A busy server
 * lists its models, however long its replies take.
 */
export function openRequestsInFlight(options: RequestsInFlightOptions) {
  const { clock, closing } = options
  const servers = new Map<PooledServer, AtServer>()
  const at = (server: PooledServer) =>
    getOrMake(servers, server, (): AtServer => ({ flights: new Set(), heardAt: -Infinity, isChecked: false }))
  let isArmed = false
  const arm = () => {
    if (isArmed || closing.aborted) return
    isArmed = true
    clock.after(checkEveryMs, () => {
      isArmed = false
      for (const [server, one] of servers) void check(server, one, options)
      if ([...servers.values()].some(({ flights }) => flights.size > 0)) arm()
    })
  }
  return {
    /** `send`, over requests that can be given up. */
    tracked: (send: Send): Send => {
      return async (reservation, request, signal, onSend) => {
        const one = at(reservation.server)
        const flight: Flight = { model: request.model, sentAt: clock.now(), abandon: new AbortController() }
        one.flights.add(flight)
        arm()
        try {
          const either = AbortSignal.any([signal, flight.abandon.signal])
          const result = await send(reservation, request, either, onSend)
          if ('reply' in result || result.failure.status !== undefined) one.heardAt = clock.now()
          else if (flight.abandon.signal.aborted) return { ...result, failure: toTryFailure(givenUp) }
          return result
        } finally {
          one.flights.delete(flight)
        }
      }
    },
    /** The server works again for the model: gives up what it does not answer of it within two seconds. */
    giveUpOld(server: PooledServer, model: string | undefined): void {
      const now = clock.now()
      clock.after(graceMs, () => {
        for (const flight of at(server).flights) {
          if (flight.sentAt < now && flight.model === model) flight.abandon.abort(givenUp)
        }
      })
    },
  }
}

async function check(
  { endpoint }: PooledServer,
  one: AtServer,
  { clock, closing, onSilent }: RequestsInFlightOptions,
): Promise<void> {
  const [oldest] = one.flights
  const since = Math.max(one.heardAt, oldest?.sentAt ?? Infinity)
  if (one.isChecked || clock.now() - since < silentMs) return
  one.isChecked = true
  const late = new AbortController()
  const stopTimer = clock.after(listLimitMs, () => late.abort(notListed))
  const signal = AbortSignal.any([closing, late.signal])
  const isSilent = await endpoint.models({ timeoutMs: listLimitMs, signal }).then(
    () => false,
    (error: unknown) => toTryFailure(error).status === undefined,
  )
  stopTimer()
  one.isChecked = false
  if (isSilent && !closing.aborted) for (const model of modelsOf(one)) onSilent(model)
}

const notListed = new AppError('AGENT_002', 'no list of models in time', { phase: 'model' })
const givenUp = new AppError('AGENT_002', 'no answer from before the server was away', { phase: 'model' })

function modelsOf({ flights }: AtServer): Set<string> {
  return new Set([...flights].map(({ model }) => model))
}
