import { AppError } from '#domain/error.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type Clock, withinLimit } from '#platform/clock.ts'
import { toTryFailure } from '../wire/try-failure.ts'
import type { Send } from './send-request.ts'
import type { PooledServer } from './servers/pooled-server.ts'

export type RequestsInFlightOptions = {
  clock: Clock
  closing: AbortSignal
  /** Tells whether a server that does not list its models does not answer a probe for this one either, and another server works for it. */
  isSilentAlone(server: PooledServer, model: string): Promise<boolean>
  onChange(): void
}

const checkEveryMs = 5000
const silentMs = 15_000
const listLimitMs = 5000
/** A server has so long to answer the requests from before: once it works again, or since no server of the model does. */
const graceMs = { works: 2000, away: 10_000 }

type SentRequest = { model: string; sentAt: number; abandon: AbortController }
/** `heldFor` names the models for which it was silent; while there are any, it gets no requests. */
type AtServer = { sent: Set<SentRequest>; heardAt: number; isChecked: boolean; heldFor: ReadonlySet<string> }

const unheardOf = (): AtServer => ({ sent: new Set(), heardAt: -Infinity, isChecked: false, heldFor: new Set() })

/**
 * Keeps the requests in flight. A server that hangs is noticed before their time limit by a list of models that does not come,
 * and a probe. While another server works for the model it gets no more requests, and what it owes is tried at the other; so is
 * what it still owes when it works again or the model is away. A busy server lists its models, however long its replies take.
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
      for (const [server, state] of servers) if (mayBeSilent(state, clock)) void check(server, state, watching)
      if ([...servers.values()].some(({ sent, heldFor }) => sent.size > 0 || heldFor.size > 0)) arm()
    })
  }
  const watching = { ...options, arm }
  return {
    tracked: (send: Send): Send => {
      return async (reservation, request, signal, onSend) => {
        const state = at(reservation.server)
        const own: SentRequest = { model: request.model, sentAt: clock.now(), abandon: new AbortController() }
        state.sent.add(own)
        arm()
        try {
          const either = AbortSignal.any([signal, own.abandon.signal])
          const result = await send(reservation, request, either, onSend)
          if ('reply' in result || result.failure.status !== undefined) state.heardAt = clock.now()
          else if (own.abandon.signal.aborted) return { ...result, failure: toTryFailure(givenUp) }
          return result
        } finally {
          state.sent.delete(own)
        }
      }
    },
    /** A probe of the server for the model has had no answer: whether it is silent is looked at now. */
    suspect(server: PooledServer, model: string): void {
      void check(server, at(server), watching, model)
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
  state: AtServer,
  owed: { model: string | undefined; before: number },
  options: RequestsInFlightOptions,
): Promise<void> {
  const isOwed = [...state.sent].some(({ model }) => model === owed.model)
  if (!isOwed || state.heardAt > owed.before || !(await isSilent(server, options))) return
  if (state.heardAt <= owed.before) giveUp(state, owed)
}

/** A list of models costs a server nothing. */
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

function mayBeSilent({ sent, heardAt, heldFor }: AtServer, { now }: Pick<Clock, 'now'>): boolean {
  const [oldest] = sent
  return heldFor.size > 0 || now() - Math.max(heardAt, oldest?.sentAt ?? Infinity) >= silentMs
}

type Watching = RequestsInFlightOptions & { arm(): void }

async function check(server: PooledServer, state: AtServer, watching: Watching, suspected?: string): Promise<void> {
  if (state.isChecked) return
  state.isChecked = true
  const askedAt = watching.clock.now()
  const silentFor = await modelsInDoubt(server, state, watching, suspected)
  state.isChecked = false
  if (watching.closing.aborted) return
  const heldFor = state.heardAt > askedAt ? [] : silentFor
  if (heldFor.length > 0) {
    server.breaker.hold()
    watching.arm()
  } else if (state.heldFor.size > 0) {
    server.breaker.endPause()
    watching.onChange()
  }
  state.heldFor = new Set(heldFor)
  // Also what was sent there meanwhile.
  for (const model of heldFor) giveUp(state, { model, before: Infinity })
}

async function modelsInDoubt(
  server: PooledServer,
  { sent, heldFor }: AtServer,
  watching: Watching,
  suspected: string | undefined,
): Promise<string[]> {
  if (!(await isSilent(server, watching))) return []
  const models = new Set([
    ...heldFor,
    ...[...sent].map(({ model }) => model),
    ...(suspected === undefined ? [] : [suspected]),
  ])
  const doubtful = [...models].map(async (model) => ((await watching.isSilentAlone(server, model)) ? [model] : []))
  return (await Promise.all(doubtful)).flat()
}

const givenUp = new AppError('AGENT_002', 'the server was silent: the request was given up', { phase: 'model' })
