import { AppError } from '#domain/error.ts'
import type { ModelReply, ModelRequest } from '#domain/turn.ts'
import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { TryFailure } from '../wire/try-failure.ts'
import type { ModelOffers } from './model-offers.ts'
import { openNamedWaits, type NamedWaits } from './named-waits.ts'
import type { Replica } from './replicas/replica.ts'
import { isNotFound, seatEndOf } from './replicas/seat-end.ts'
import { toldModels } from './told-models.ts'
import type { Seat } from './replicas/seat.ts'
import type { Wish } from './replicas/choose-replica.ts'
import type { WaitingLine } from './line/waiting-line.ts'

export type ReplyRead = Omit<ModelReply, 'endpoint' | 'tries'>

/**
 * How one try ended: what a server answered, or what failed there. `sent`: how many requests were sent for it. `sentAt`:
 * when it was sent, by the clock; what had to be known before is not in it.
 */
export type Tried = { replica: Replica; sent: number; sentAt: number } & (
  | { reply: ReplyRead }
  | { failure: TryFailure }
)

export type CompleteDeps = {
  line: Pick<WaitingLine, 'enter' | 'lookAgain'>
  offers: ModelOffers
  /** Sends the request from this seat, which it leaves whatever comes, and calls `sending` then. Does not reject. */
  send(seat: Seat, request: ModelRequest, signal: AbortSignal, sending?: () => void): Promise<Tried>
  /** How long after the first failure another try may still start. */
  retryBudgetMs: number
  clock: Clock
  random(): number
  /** Aborted with AGENT_002 when the pool is closed. */
  closing: AbortSignal
  log?: Pick<Log, 'warn'> | undefined
}

const backoffMs = { first: 200, most: 5000 }
/** A model that babbles once may not the next time; one that does so three times will not stop. */
const maxBrokenReplies = 3

type Failed = { replica: Replica; failure: TryFailure }
type Tries = {
  count: number
  firstSentAt: number | undefined
  firstFailedAt: number | undefined
  broken: number
  last: Failed | undefined
  failedAt: Set<Replica>
  waits: NamedWaits
}

/**
 * Tries until a reply is whole, which is when its first byte is given to the caller: so a reply that broke off may be asked
 * for again, elsewhere where there is an elsewhere. AGENT_002, AGENT_007 and AGENT_008 as `ModelPool.complete` says.
 */
export async function completeWithin(
  request: ModelRequest,
  signal: AbortSignal,
  deps: CompleteDeps,
): Promise<ModelReply> {
  const { offers } = deps
  const wish = { model: request.model, key: request.prefixKey ?? request.model }
  const tries = noTries(deps.clock)
  await offers.require(request.model, signal)
  for (;;) {
    const seat = await findSeat(wish, tries, signal, deps)
    if (seat === undefined) throw nobodyUp(request.model, tries, deps)
    const tried = await deps.send(seat, request, signal)
    tries.firstSentAt ??= tried.sentAt
    tries.count += tried.sent
    const { replica } = tried
    if ('reply' in tried) return { ...tried.reply, endpoint: replica.name, tries: tries.count }
    signal.throwIfAborted()
    tries.firstFailedAt ??= deps.clock.now()
    tries.last = tried
    await restBeforeNext(request, tries, tried, signal, deps)
  }
}

function noTries(clock: Clock): Tries {
  const [count, broken] = [0, 0]
  const [firstSentAt, firstFailedAt, last] = [undefined, undefined, undefined]
  return { count, firstSentAt, firstFailedAt, broken, last, failedAt: new Set(), waits: openNamedWaits(clock) }
}

/** A first try waits for a place however long it takes while a server works; a later one while it may still start. */
async function findSeat(
  { model, key }: Pick<Wish, 'model' | 'key'>,
  tries: Tries,
  signal: AbortSignal,
  { line, clock, retryBudgetMs }: CompleteDeps,
): Promise<Seat | undefined> {
  const patienceMs = retryBudgetMs - since(tries.firstFailedAt, clock)
  const { last, failedAt, waits } = tries
  const again = last !== undefined
  const wish = { model, key, again, patienceMs, avoid: last?.replica, failedAt, isWaiting: waits.isWaiting }
  if (last === undefined) return line.enter(wish, signal)
  const late = new AbortController()
  const stop = clock.after(patienceMs, () => late.abort())
  const stopLooks = waits.whenOver(line.lookAgain)
  try {
    return await line.enter(wish, AbortSignal.any([signal, late.signal]))
  } catch {
    signal.throwIfAborted()
    return undefined
  } finally {
    stop()
    stopLooks()
  }
}

/** Waits until the next try may start; rejects when there is none. */
async function restBeforeNext(
  { model }: ModelRequest,
  tries: Tries,
  tried: Failed,
  signal: AbortSignal,
  { clock, random, log, offers, closing, ...deps }: CompleteDeps,
): Promise<void> {
  const { replica, failure } = tried
  if (failure.error.code === 'AGENT_008') tries.broken += 1
  if (seatEndOf(failure) !== 'overloaded') tries.failedAt.add(replica)
  tries.waits.note(replica, failure.retryAfterMs)
  const others = await offers.elsewhere(model, replica, { isMissing: isNotFound(failure) }, signal)
  const isMisled = others.length > 0 && isNotFound(failure)
  const waitMs = isMisled ? 0 : Math.max(waitBefore(tries.count, random), tries.waits.leastMs([replica, ...others]))
  const isSpent = since(tries.firstFailedAt, clock) + waitMs > deps.retryBudgetMs || tries.broken === maxBrokenReplies
  if (!(failure.again || isMisled) || isSpent || closing.aborted) throw gaveUp(model, tried, tries, clock)
  log?.warn('model request is tried again', {
    endpoint: replica.name,
    tries: tries.count,
    waitMs,
    error: failure.error,
  })
  await clock.delay(waitMs, AbortSignal.any([signal, closing]))
}

function since(at: number | undefined, clock: Clock): number {
  return at === undefined ? 0 : clock.now() - at
}

/** Anything up to a doubling step, so that callers that failed together do not come back together. */
function waitBefore(tries: number, random: () => number): number {
  const step = Math.min(backoffMs.most, backoffMs.first * 2 ** (tries - 1))
  return Math.round(random() * step)
}

function gaveUp(model: string, { replica, failure }: Failed, tries: Tries, clock: Clock): AppError {
  const { code, message } = failure.error
  const models = isNotFound(failure) ? (replica.offered.models() ?? []).filter((one) => one !== model) : []
  const offered = models.length === 0 ? '' : `; it offers ${toldModels(models)}`
  const effort = tries.count === 1 ? '' : ` (${tries.count} tries in ${Math.round(since(tries.firstSentAt, clock))} ms)`
  return new AppError(code, `${replica.name}: ${message}${offered}${effort}`, { cause: failure.error, phase: 'model' })
}

function nobodyUp(model: string, tries: Tries, { closing, offers, clock, retryBudgetMs }: CompleteDeps): unknown {
  if (closing.aborted) return closing.reason
  if (tries.last !== undefined) return gaveUp(model, tries.last, tries, clock)
  const words = `no model server has worked for ${retryBudgetMs} ms; look at ${offers.servers().join(', ')}`
  return new AppError('AGENT_002', words, { phase: 'model' })
}
