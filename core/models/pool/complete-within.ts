import { AppError } from '#domain/error.ts'
import type { ModelReply, ModelRequest } from '#domain/turn.ts'
import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { TryFailure } from '../wire/try-failure.ts'
import { openFailedTries, type FailedTries } from './failed-tries.ts'
import type { ModelOffers } from './model-offers.ts'
import { openNamedWaits, type NamedWaits } from './named-waits.ts'
import type { Replica } from './replicas/replica.ts'
import { isNotFound, seatEndOf } from './replicas/seat-end.ts'
import { toldModels } from './told-models.ts'
import type { Seat } from './replicas/seat.ts'
import type { Wish } from './replicas/choose-replica.ts'
import type { WaitingLine } from './line/waiting-line.ts'

export type ReplyRead = Omit<ModelReply, 'endpoint' | 'tries' | 'failedTries'>

/**
 * How one try ended: what a server answered, or what failed there. `sent`: how many requests were sent for it. `sentAt`:
 * when it was sent, by the clock; what had to be known before is not in it.
 */
export type Tried = { replica: Replica; sent: number; sentAt: number } & (
  | { reply: ReplyRead }
  | { failure: TryFailure }
) & {
    /** What failed at another server to which it was sent at the same time. */
    beside?: FailedAt | undefined
  }

export type CompleteDeps = {
  line: Pick<WaitingLine, 'enter' | 'lookAgain'>
  offers: ModelOffers
  /** Sends the request from this seat, which it leaves whatever comes, and calls `sending` then. Does not reject. */
  send(seat: Seat, request: ModelRequest, signal: AbortSignal, sending?: () => void): Promise<Tried>
  /** The same for a request that has failed; nothing is sent to a second server at the same time. */
  sendAgain: CompleteDeps['send']
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
export type FailedAt = Failed & { sentAt: number }
type Tries = { count: number; firstSentAt: number | undefined; trouble: Trouble | undefined }
type TriedInVain = Tries & { trouble: Trouble }
/** What is known of a request since a try of it failed; nearly none does. */
type Trouble = {
  firstFailedAt: number
  last: Failed
  /** Replies that could not be read. */
  broken: number
  failedAt: Set<Replica>
  told: FailedTries
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
  const tries: Tries = { count: 0, firstSentAt: undefined, trouble: undefined }
  await offers.require(request.model, signal)
  for (;;) {
    const seat = await findSeat(wish, tries.trouble, signal, deps)
    if (seat === undefined) throw nobodyUp(request.model, tries, deps)
    const send = tries.trouble === undefined ? deps.send : deps.sendAgain
    const tried = await send(seat, request, signal)
    tries.firstSentAt ??= tried.sentAt
    tries.count += tried.sent
    if (tried.beside !== undefined) noteFailure(tries, tried.beside, deps.clock)
    if ('reply' in tried) return answered(tried.reply, tried.replica, tries)
    signal.throwIfAborted()
    const trouble = noteFailure(tries, tried, deps.clock)
    await restBeforeNext(request, { ...tries, trouble }, signal, deps)
  }
}

function answered(reply: ReplyRead, { name }: Replica, { count, trouble }: Tries): ModelReply {
  const failed = trouble === undefined ? {} : { failedTries: trouble.told.list() }
  return { ...reply, endpoint: name, tries: count, ...failed }
}

function noteFailure(tries: Tries, tried: FailedAt, clock: Clock): Trouble {
  const now = clock.now()
  tries.trouble ??= {
    firstFailedAt: now,
    last: tried,
    broken: 0,
    failedAt: new Set(),
    told: openFailedTries(),
    waits: openNamedWaits(clock),
  }
  const { trouble } = tries
  const { replica, failure } = tried
  trouble.last = tried
  trouble.told.add(tried, now - tried.sentAt)
  trouble.waits.note(replica, failure.retryAfterMs)
  if (failure.error.code === 'AGENT_008') trouble.broken += 1
  if (seatEndOf(failure) !== 'overloaded') trouble.failedAt.add(replica)
  return trouble
}

/** A first try waits for a place however long it takes while a server works; a later one while it may still start. */
async function findSeat(
  { model, key }: Pick<Wish, 'model' | 'key'>,
  trouble: Trouble | undefined,
  signal: AbortSignal,
  { line, clock, retryBudgetMs }: CompleteDeps,
): Promise<Seat | undefined> {
  if (trouble === undefined) return line.enter({ model, key, again: false, patienceMs: retryBudgetMs }, signal)
  const { last, failedAt, waits, firstFailedAt } = trouble
  const patienceMs = retryBudgetMs - (clock.now() - firstFailedAt)
  const wish = { model, key, again: true, patienceMs, avoid: last.replica, failedAt, isWaiting: waits.isWaiting }
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
  tried: TriedInVain,
  signal: AbortSignal,
  { clock, random, log, offers, closing, retryBudgetMs }: CompleteDeps,
): Promise<void> {
  const { trouble, count } = tried
  const { replica, failure } = trouble.last
  const others = await offers.elsewhere(model, replica, { isMissing: isNotFound(failure) }, signal)
  const isMisled = others.length > 0 && isNotFound(failure)
  const waitMs = isMisled ? 0 : Math.max(waitBefore(count, random), trouble.waits.leastMs([replica, ...others]))
  const isLate = clock.now() - trouble.firstFailedAt + waitMs > retryBudgetMs
  const isSpent = isLate || trouble.broken === maxBrokenReplies
  if (!(failure.again || isMisled) || isSpent || closing.aborted) throw gaveUp(model, tried, clock)
  log?.warn('model request is tried again', { endpoint: replica.name, tries: count, waitMs, error: failure.error })
  await clock.delay(waitMs, AbortSignal.any([signal, closing]))
}

/** Anything up to a doubling step, so that callers that failed together do not come back together. */
function waitBefore(tries: number, random: () => number): number {
  const step = Math.min(backoffMs.most, backoffMs.first * 2 ** (tries - 1))
  return Math.round(random() * step)
}

/** `waited`: after the last try, for a server that works. */
function gaveUp(
  model: string,
  { count, firstSentAt = 0, trouble, waited = false }: TriedInVain & { waited?: boolean },
  clock: Clock,
): AppError {
  const { last, told } = trouble
  const { replica, failure } = last
  const { code, message } = failure.error
  const models = isNotFound(failure) ? (replica.offered.models() ?? []).filter((one) => one !== model) : []
  const offered = models.length === 0 ? '' : `; it offers ${toldModels(models)}`
  const tookMs = Math.round(clock.now() - firstSentAt)
  const effort = count === 1 && !waited ? '' : ` (${count} ${count === 1 ? 'try' : 'tries'} in ${tookMs} ms)`
  const words = `${replica.name}: ${message}${offered}${told.elsewhere(replica)}${effort}`
  return new AppError(code, words, { cause: failure.error, phase: 'model' })
}

function nobodyUp(model: string, tries: Tries, { closing, offers, clock, retryBudgetMs }: CompleteDeps): unknown {
  if (closing.aborted) return closing.reason
  const { trouble } = tries
  if (trouble !== undefined) return gaveUp(model, { ...tries, trouble, waited: true }, clock)
  const words = `no model server has worked for ${retryBudgetMs} ms; look at ${offers.servers().join(', ')}`
  return new AppError('AGENT_002', words, { phase: 'model' })
}
