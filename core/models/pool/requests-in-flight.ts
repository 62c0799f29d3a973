import { AppError } from '#domain/error.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type Clock, withinLimit } from '#platform/clock.ts'
import { toTryFailure } from '../wire/try-failure.ts'
import type { Send } from './send-request.ts'
import type { PooledServer } from './servers/pooled-server.ts'

export type RequestsInFlightOptions = {
  clock: Clock
  closing: AbortSignal
  /**
   * Called when a server does not even list its models, for each model that it has requests of in flight. Resolves to whether
   * another one works for the model.
   */
  onSilent(server: PooledServer, model: string): Promise<boolean>
}

const checkEveryMs = 5000
/** A server that was silent for so long, with requests in flight, is asked for its list of models. */
const silentMs = 15_000
const listLimitMs = 5000
/** How long a server has to answer the requests from before: once it works again, or since no server of the model does. */
const graceMs = { works: 2000, away: 10_000 }

type SentRequest = { model: string; sentAt: number; abandon: AbortController }
/** `isHeld`: it gets no requests until it lists its models. */
type AtServer = { sent: Set<SentRequest>; heardAt: number; isChecked: boolean; isHeld: boolean }

const unheardOf = (): AtServer => ({ sent: new Set(), heardAt: -Infinity, isChecked: false, isHeld: false })

/**
 * The requests in flight. A server that hangs keeps them until their time limit, which may be minutes: it is noticed sooner by
 * a list of models that does not come. While another server works for the model, it gets no more requests until it lists
 * its models, and what it owes is given up and tried at the other. What it still owes when it works again, or when the model
 * is away and it goes on being silent, is given up too. A busy server lists its models, however long its replies take.
 */
export function openRequestsInFlight(options: RequestsInFlightOptions) {
  const { clock, closing } = options
  const servers = new Map<PooledServer, AtServer>()
  const at = (server: PooledServer) => getOrMake(servers, server, unheardOf)
  let isArmed = false
  const arm = () => {
    if (isArmed || closing.aborted) return
    isArmed = true
    clock.after(checkEveryMs, () => {
      isArmed = false
      for (const [server, one] of servers) if (mayBeSilent(one, clock)) void check(server, one, options)
      if ([...servers.values()].some(({ sent, isHeld }) => sent.size > 0 || isHeld)) arm()
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
    /** A probe of the server for the model has had no answer: whether it is silent is looked at now. */
    suspect(server: PooledServer, model: string): void {
      arm()
      void check(server, at(server), options, model)
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

function mayBeSilent({ sent, heardAt, isHeld }: AtServer, { now }: Pick<Clock, 'now'>): boolean {
  const [oldest] = sent
  return isHeld || now() - Math.max(heardAt, oldest?.sentAt ?? Infinity) >= silentMs
}

async function check(
  server: PooledServer,
  one: AtServer,
  options: RequestsInFlightOptions,
  suspected?: string,
): Promise<void> {
  if (one.isChecked) return
  one.isChecked = true
  const askedAt = options.clock.now()
  const silent = await isSilent(server, options)
  one.isChecked = false
  if (!silent && one.isHeld) server.breaker.endPause()
  one.isHeld &&= silent
  if (one.isHeld) return server.breaker.hold()
  if (!silent) return
  const models = new Set([...one.sent].map(({ model }) => model))
  if (suspected !== undefined) models.add(suspected)
  await Promise.all([...models].map((model) => hold(server, one, { model, before: askedAt }, options)))
}

/** No more requests for a silent server, if another one works for the model. */
async function hold(
  server: PooledServer,
  one: AtServer,
  owed: { model: string; before: number },
  { onSilent }: RequestsInFlightOptions,
): Promise<void> {
  const isServedElsewhere = await onSilent(server, owed.model)
  if (!isServedElsewhere || one.heardAt > owed.before) return
  one.isHeld = true
  server.breaker.hold()
  giveUp(one, owed)
}

const givenUp = new AppError('AGENT_002', 'the server was silent: the request was given up', { phase: 'model' })
