import { ModelUnavailable } from '#domain/error.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type Clock, withinLimit } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { TryFailure } from '../wire/try-failure.ts'
import { probeModel } from './probe-model.ts'
import type { PooledServer } from './servers/pooled-server.ts'
import {
  awayText,
  candidates,
  faultsOf,
  isNeeded,
  isUsed,
  reportOf,
  silent,
  unjudged,
  type Watched,
  working,
} from './watched-model.ts'

export type ModelWatchOptions = {
  servers: readonly PooledServer[]
  clock: Clock
  random(): number
  closing: AbortSignal
  /** Called when a model is judged for the first time, is away, or works again. */
  onChange(): void
  /** Called when a server that was silent while a model was away answers a probe; one that refused requests owes none. */
  onBack(server: PooledServer, model: string | undefined): void
  onSilence(server: PooledServer, model: string): void
  /** Called for each server of a model that has just been judged away. */
  onAway(server: PooledServer, model: string | undefined): void
  log?: Pick<Log, 'warn'> | undefined
}

/** A run goes on within 5 s after its model is back. Where the model or the key is refused, the operator must act first. */
const probeEveryMs = { silent: 3000, refused: 15_000 }
/** A failure that leaves no doubt, since nobody listens there, needs no probe for so long. */
const sureMs = 1000
/** A server that asks for a longer wait (`Retry-After`) is probed all the same. */
const longestPauseMs = 30_000
const verdictMs = 10_000
type Tried = { server: PooledServer; sentAt: number }

type Watch = ModelWatchOptions & {
  /** Has each model under the name it is asked for; the first model both under its name and without one. */
  watched: Map<string | undefined, Watched>
  answered: Set<PooledServer>
  listeners: Set<() => void>
}

export type ModelWatch = ReturnType<typeof openModelWatch>

/**
 * Judges for each model in use whether any server works for it. Requests alone never declare a model away: a probe of every
 * server does, after a request has failed for good or all breakers are open. The first good probe, or a good answer to a request
 * sent since, ends that.
 */
export function openModelWatch(options: ModelWatchOptions) {
  const watched: Watch['watched'] = new Map()
  const watch: Watch = { ...options, watched, answered: new Set(), listeners: new Set([options.onChange]) }
  const of = (name: string | undefined) => entryOf(name, watch)
  return {
    listen(listener: () => void): () => void {
      watch.listeners.add(listener)
      return () => void watch.listeners.delete(listener)
    },
    /** Judges the model if it has not been judged, or thought to work though no server has answered within `freshMs`. */
    watch(name: string | undefined, { freshMs = Infinity }: { freshMs?: number } = {}): void {
      forgetUnneeded(watch)
      const entry = of(name)
      const now = options.clock.now()
      entry.watchedAt = now
      const isStale = entry.isWorking === true && now - entry.heardAt > freshMs
      if (entry.isWorking === undefined || isStale) void judge(entry, watch)
    },
    isWatched: (name: string | undefined) => isNeeded(watched.get(name), watch),
    isUsed: (name: string | undefined) => isUsed(watched.get(name), watch),
    /** Notes how a try at a server ended; without `failure` it was answered. */
    note({ server, sentAt }: Tried, name: string, failure: TryFailure | undefined): void {
      if (failure?.kind === 'request' && failure.status === undefined) return // a broken reply says nothing
      const entry = of(name)
      if (failure === undefined && sentAt < (entry.awaySince ?? 0)) return // it was under way when the servers stopped
      note(entry, server, failure, watch)
      const isDown = candidates(entry, watch).every(({ breaker }) => breaker.state() !== 'closed')
      if (failure !== undefined && entry.isWorking !== false && isDown) void judge(entry, watch)
    },
    /** Does work that needs the model; rejects with a `ModelUnavailable` at once while it is away. */
    guard: <T>(name: string | undefined, work: () => Promise<T>): Promise<T> => guard(name, work, watch),
    /** Tells whether the server does not answer a probe for the model, and another one works for it. Judges the model if need be. */
    isSilentAlone: (server: PooledServer, name: string) => isSilentAlone(server, of(name), watch),
    /** Tells whether the server answers a probe for the model: what it refuses all the same is refused for what is in it. */
    answers(server: PooledServer, name: string, signal: AbortSignal): Promise<boolean> {
      const limit = { limitMs: verdictMs, signal, late: () => false, clock: options.clock }
      return withinLimit(probe(of(name), server, watch), limit)
    },
    works: (name: string | undefined) => judge(of(name), watch),
    isAway: (name: string) => watched.get(name)?.awaySince !== undefined,
    report: (name: string | undefined) => reportOf(watched.get(name) ?? unjudged(name, watch), watch),
  }
}

function entryOf(name: string | undefined, watch: Watch): Watched {
  return getOrMake(watch.watched, name, () => unjudged(name, watch))
}

async function guard<T>(name: string | undefined, work: () => Promise<T>, watch: Watch): Promise<T> {
  const entry = entryOf(name, watch)
  entry.usedAt = watch.clock.now()
  if (entry.awaySince !== undefined) throw new ModelUnavailable(awayText(entry), { isAway: true })
  entry.requests += 1
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ModelUnavailable) || watch.closing.aborted) throw error
    const works = await judge(entryOf(name, watch), watch)
    const isAlone = works && error.kind === 'server'
    const words = isAlone ? `${error.message}; other requests are answered` : error.message
    throw new ModelUnavailable(words, { cause: error, isAway: !works, kind: error.kind })
  } finally {
    entry.requests -= 1
    entry.usedAt = watch.clock.now()
  }
}

async function isSilentAlone(server: PooledServer, entry: Watched, watch: Watch): Promise<boolean> {
  const isHeard = watch.clock.now() - entry.heardAt < verdictMs
  if (!isHeard && !(await judge(entry, watch))) return false
  const isServedElsewhere = [...entry.states].some(([candidate, { isWorking }]) => candidate !== server && isWorking)
  return isServedElsewhere && !(await probe(entry, server, watch))
}

function forgetUnneeded(watch: Watch): void {
  for (const [name, entry] of watch.watched) if (!isNeeded(entry, watch)) watch.watched.delete(name)
}

function note(entry: Watched, server: PooledServer, failure: TryFailure | undefined, watch: Watch): void {
  if (failure === undefined || failure.status !== undefined) watch.answered.add(server)
  const before = entry.states.get(server)
  if (failure === undefined || failure.kind === 'request') {
    entry.heardAt = watch.clock.now()
    if (before?.isWorking !== true) entry.states.set(server, working)
    return setWorking(entry, watch)
  }
  const { status, error, retryAfterMs } = failure
  const pausedMs = Math.min(retryAfterMs, longestPauseMs)
  // A refusal is in doubt: a gateway refuses a text that it filters with the statuses of a key that was revoked.
  const sureUntil = watch.clock.now() + Math.max(failure.kind === 'unsent' ? sureMs : 0, pausedMs)
  const { nextProbeAt } = before ?? {}
  const wasSilent = status === undefined || before?.wasSilent === true
  entry.states.set(server, { isWorking: false, lastError: error.message, status, wasSilent, sureUntil, nextProbeAt })
}

/** The first server in doubt whose probe is answered decides. */
function judge(entry: Watched, watch: Watch): Promise<boolean> {
  if (entry.awaySince !== undefined) return Promise.resolve(false)
  const now = watch.clock.now()
  const doubted = candidates(entry, watch).filter((server) => (entry.states.get(server)?.sureUntil ?? 0) <= now)
  entry.judging ??= anyTrue(doubted.map((server) => probe(entry, server, watch)))
    .then((isAnswered) => {
      const works = isAnswered || entry.heardAt > now // others were answered meanwhile
      if (works) setWorking(entry, watch)
      else setAway(entry, watch)
      return works
    })
    .finally(() => (entry.judging = undefined))
  return entry.judging
}

async function probe(entry: Watched, server: PooledServer, watch: Watch): Promise<boolean> {
  const isPatient = !entry.patient.has(server)
  if (isPatient) entry.patient.add(server)
  const answer = probeModel(server, entry, { ...watch, limitMs: isPatient ? Infinity : verdictMs }).then((failure) => {
    if (isPatient) entry.patient.delete(server)
    noteProbe(entry, server, failure, watch)
    return failure === undefined
  })
  const late = () => {
    suspect(entry, server, watch)
    return false
  }
  return withinLimit(answer, { limitMs: verdictMs, signal: watch.closing, late, clock: watch.clock }).catch(() => false)
}

function noteProbe(entry: Watched, server: PooledServer, failure: TryFailure | undefined, watch: Watch): void {
  if (watch.closing.aborted) return
  nameFirst(entry, watch)
  if (failure !== undefined && entry.awaySince === undefined && entry.states.get(server)?.isWorking !== false) {
    watch.log?.warn('a model server does not work', { server: server.name, error: failure.error.message })
    if (failure.kind === 'doubtful' && failure.status === undefined) suspect(entry, server, watch)
  }
  if (failure === undefined && entry.awaySince !== undefined) {
    // Only what was down begins anew: other models of the server may have worked all the time.
    if (server.breaker.state() !== 'closed') server.limit.restart()
    server.breaker.succeed()
    if (entry.states.get(server)?.wasSilent !== false) watch.onBack(server, entry.name)
  }
  note(entry, server, failure, watch)
}

function suspect({ name, awaySince }: Watched, server: PooledServer, { onSilence }: Watch): void {
  if (name !== undefined && awaySince === undefined) onSilence(server, name)
}

/** The first model is judged by its name, too; a name that it had before is that of another model now. */
function nameFirst(entry: Watched, { watched }: Watch): void {
  if (!entry.isFirst || entry.name === undefined) return
  for (const [name, watchedEntry] of watched)
    if (watchedEntry === entry && name !== undefined && name !== entry.name) watched.delete(name)
  watched.set(entry.name, entry)
}

function setWorking(entry: Watched, { log, listeners }: Watch): void {
  if (entry.isWorking === true) return
  if (entry.awaySince !== undefined) log?.warn('a model works again', { model: entry.name ?? null })
  entry.isWorking = true
  entry.awaySince = undefined
  for (const listener of listeners) listener()
}

function setAway(entry: Watched, watch: Watch): void {
  const { clock, closing, log, listeners } = watch
  if (entry.isWorking === false || closing.aborted) return
  entry.isWorking = false
  entry.awaySince = clock.now()
  log?.warn('no server of a model works', { model: entry.name ?? null, servers: faultsOf(entry) })
  for (const server of candidates(entry, watch)) {
    probeLater(entry, server, watch)
    watch.onAway(server, entry.name)
  }
  for (const listener of listeners) listener()
}

function probeLater(entry: Watched, server: PooledServer, watch: Watch): void {
  const { clock, random, closing } = watch
  const { awaySince } = entry
  const known = entry.states.get(server)
  const state = known?.isWorking === false ? known : silent // its probe has no answer yet
  const { status = 0 } = state
  const everyMs = status >= 401 && status <= 404 ? probeEveryMs.refused : probeEveryMs.silent
  const waitMs = Math.max(everyMs * (0.75 + 0.25 * random()), state.sureUntil - clock.now())
  entry.states.set(server, { ...state, nextProbeAt: clock.now() + waitMs })
  clock.after(waitMs, () => {
    if (entry.awaySince !== awaySince || closing.aborted) return // the outage is over, or another one
    if (!isNeeded(entry, watch)) return forgetUnneeded(watch)
    void probe(entry, server, watch)
    probeLater(entry, server, watch)
  })
}

async function anyTrue(answers: readonly Promise<boolean>[]): Promise<boolean> {
  const good = answers.map(async (answer) => ((await answer) ? true : Promise.reject(new Error('no'))))
  return Promise.any(good).catch(() => false)
}
