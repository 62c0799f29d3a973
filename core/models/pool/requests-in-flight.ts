import { AppError } from '#domain/error.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type Clock, withinLimit } from '#platform/clock.ts'
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
/** A server that was silent for so long, with requests in flight, is asked for its list of models. */
const silentMs = 15_000
const listLimitMs = 5000
/** How long a server has to answer the requests from before: once it works again, or since no server of the model does. */
const graceMs = { works: 2000, away: 10_000 }

type SentRequest = { model: string; sentAt: number; abandon: AbortController }
type AtServer = { sent: Set<SentRequest>; heardAt: number; isChecked: boolean }

/**
 * The requests in flight. A server that hangs keeps them until their time limit, which may be minutes: it is noticed sooner by
 * a list of models that does not come. What it still owes when it works again, or when the model is away and it goes on being
 * silent, is given up and tried anew. A busy server lists its models, however long its replies take.
 */
export function openRequestsInFlight(options: RequestsInFlightOptions) {
  const { clock, closing } = options
  const servers = new Map<PooledServer, AtServer>()
  const at = (server: PooledServer) =>
    getOrMake(servers, server, (): AtServer => ({ sent: new Set(), heardAt: -Infinity, isChecked: false }))
  let isArmed = false
  const arm = () => {
    if (isArmed || closing.aborted) return
    isArmed = true
    clock.after(checkEveryMs, () => {
      isArmed = false
      for (const [server, one] of servers) void check(server, one, options)
      if ([...servers.values()].some(({ sent }) => sent.size > 0)) arm()
    })
  }
  return {
    /** `send`, over requests that can be given up. */
    tracked: (send: Send): Send => {
      return async (reservation, request, signal, onSend) => {
        const one = at(reservation.server)
        const own: SentRequest = { model: request.model, sentAt: clock.now(), abandon: new AbortController() }
        one.sent.add(own)
        arm()
        try {
          const either = AbortSignal.any([signal, own.abandon.signal])
          const result = await send(reservation, request, either, onSend)
          if ('reply' in result || result.failure.status !== undefined) one.heardAt = clock.now()
          else if (own.abandon.signal.aborted) return { ...result, failure: toTryFailure(givenUp) }
          return result
        } finally {
          one.sent.delete(own)
        }
      }
    },
    /** The server was silent and works again for the model: gives up what it does not answer of it within two seconds. */
    giveUpOld(server: PooledServer, model: string | undefined): void {
      const now = clock.now()
      clock.after(graceMs.works, () => giveUp(at(server), { model, before: now }))
    },
    /** No server works for the model: gives up what this one does not answer of it, unless it is heard of. */
    giveUpSilent(server: PooledServer, model: string | undefined): void {
      const now = clock.now()
      clock.after(graceMs.away, () => void giveUpIfSilent(server, at(server), { model, before: now }, options))
    },
  }
}

function giveUp({ sent }: AtServer, { model, before }: { model: string | undefined; before: number }): void {
  for (const old of sent) if (old.sentAt < before && old.model === model) old.abandon.abort(givenUp)
}

async function giveUpIfSilent(
  server: PooledServer,
  one: AtServer,
  owed: { model: string | undefined; before: number },
  options: RequestsInFlightOptions,
): Promise<void> {
  const isOwed = [...one.sent].some(({ model }) => model === owed.model)
  if (!isOwed || one.heardAt > owed.before || !(await isSilent(server, options))) return
  if (one.heardAt <= owed.before) giveUp(one, owed)
}

/** Whether it does not even list its models, which costs it nothing. */
async function isSilent({ endpoint }: PooledServer, { clock, closing }: RequestsInFlightOptions): Promise<boolean> {
  const isListed = endpoint.models({ timeoutMs: listLimitMs, signal: closing }).then(
    () => true,
    (error: unknown) => toTryFailure(error).status !== undefined,
  )
  const limit = { limitMs: listLimitMs, signal: closing, late: () => false, clock }
  return withinLimit(isListed, limit).then(
    (listed) => !listed && !closing.aborted,
    () => false,
  )
}

async function check(server: PooledServer, one: AtServer, options: RequestsInFlightOptions): Promise<void> {
  const [oldest] = one.sent
  const since = Math.max(one.heardAt, oldest?.sentAt ?? Infinity)
  if (one.isChecked || options.clock.now() - since < silentMs) return
  one.isChecked = true
  const models = (await isSilent(server, options)) ? modelsOf(one) : []
  one.isChecked = false
  for (const model of models) options.onSilent(model)
}

const givenUp = new AppError('AGENT_002', 'no answer from before the server was away', { phase: 'model' })

function modelsOf({ sent }: AtServer): Set<string> {
  return new Set([...sent].map(({ model }) => model))
}
