import { AppError, ModelUnavailable, CutReply } from '#domain/error.ts'
import type { ModelRequest, RequestProgress, FailedTry } from '#domain/turn.ts'
import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { TryFailure } from '../wire/try-failure.ts'
import type { ModelLookup } from './model-lookup.ts'
import type { RequestQueue } from './request-queue.ts'
import type { Send, FailedRequest } from './send-request.ts'
import { shortModelList } from './servers/offered-models.ts'
import { type PooledServer, type Reservation, requestEndOf } from './servers/pooled-server.ts'

export type CompleteDeps = {
  queue: Pick<RequestQueue, 'reserve'>
  lookup: ModelLookup
  send: Send
  /** Returns how a retry is sent: hedged only after a server hung, since another such one must not cost a time limit more. */
  resend(failures: RequestFailures): Send
  answers(server: PooledServer, model: string, signal: AbortSignal): Promise<boolean>
  retryBudgetMs: number
  clock: Clock
  random(): number
  closing: AbortSignal
  log?: Pick<Log, 'warn' | 'debug'> | undefined
  progress?: RequestProgress | undefined
}

const backOffMs = { first: 200, most: 5000 }
/** A model that babbles once may not the next time; one that does so three times will not stop. */
const maxBrokenReplies = 3

type Effort = { tries: number; firstSentAt: number; queueMs: number }

/** Sends a request until a reply is whole, with back-off until its deadline. Rejects as `ModelPool.complete` says. */
export async function completeWithRetries(request: ModelRequest, signal: AbortSignal, deps: CompleteDeps) {
  const { lookup, clock, retryBudgetMs, progress } = deps
  const effort: Effort = { tries: 0, firstSentAt: 0, queueMs: 0 }
  let failures: RequestFailures | undefined
  progress?.queued()
  await lookup.require(request.model, signal)
  for (;;) {
    const queuedAt = clock.now()
    const reservation = await reserveSlot(request, failures, signal, deps)
    effort.queueMs += clock.now() - queuedAt
    if (reservation === undefined) throw noServerIsUp(request.model, failures, effort, deps)
    const send = failures === undefined ? deps.send : deps.resend(failures)
    const result = await send(reservation, request, signal, progress?.sent)
    if (effort.tries === 0) effort.firstSentAt = result.sentAt
    effort.tries += result.requestsSent
    for (const failed of [result.otherFailure, 'failure' in result ? result : undefined]) {
      if (failed === undefined) continue
      if (failures === undefined) failures = openRequestFailures(clock, { first: failed, retryBudgetMs })
      else failures.add(failed)
    }
    if ('reply' in result) {
      const failed = failures === undefined ? {} : { failedTries: failures.list() }
      const queueMs = Math.round(effort.queueMs)
      return { ...result.reply, endpoint: result.server.name, tries: effort.tries, queueMs, ...failed }
    }
    progress?.failed()
    signal.throwIfAborted()
    if (failures !== undefined) await backOff(request.model, failures, effort, signal, deps)
  }
}

async function reserveSlot(
  { model, prefixKey: key = model, share }: ModelRequest,
  failures: RequestFailures | undefined,
  signal: AbortSignal,
  { queue, clock, retryBudgetMs }: CompleteDeps,
): Promise<Reservation | undefined> {
  if (failures === undefined)
    return queue.reserve({ model, key, share, isRetry: false, maxDownMs: retryBudgetMs }, signal)
  const leftMs = Math.max(0, failures.deadline() - clock.now())
  const avoid = failures.last().server
  const late = new AbortController()
  const stopDeadline = clock.after(leftMs, () => late.abort())
  try {
    const pending = { model, key, share, isRetry: true, maxDownMs: leftMs, avoid, failedAt: failures.failedAt }
    return await queue.reserve(pending, AbortSignal.any([signal, late.signal]))
  } catch {
    signal.throwIfAborted()
    return undefined
  } finally {
    stopDeadline()
  }
}

async function backOff(
  model: string,
  failures: RequestFailures,
  effort: Effort,
  signal: AbortSignal,
  { clock, random, log, lookup, answers, closing }: CompleteDeps,
): Promise<void> {
  const { server, failure } = failures.last()
  const isMissing = isNotFound(failure) && !(await answers(server, model, signal))
  const others = await lookup.otherServers(model, server, { isMissing }, signal)
  const isOfferedElsewhere = isMissing && others.length > 0
  const { tries } = effort
  const backOffLeftMs = Math.round(random() * Math.min(backOffMs.most, backOffMs.first * 2 ** (tries - 1)))
  const pauseMs = Math.min(...[server, ...others].map(({ slots }) => slots.pauseLeftMs()))
  const waitMs = isOfferedElsewhere ? 0 : Math.max(backOffLeftMs, pauseMs)
  const mayRetry = (failure.again || isOfferedElsewhere) && failures.brokenReplies() < maxBrokenReplies
  if (!mayRetry || clock.now() + waitMs > failures.deadline() || closing.aborted) {
    throw lastError(model, failures, effort, clock)
  }
  log?.debug('model request is tried again', { endpoint: server.name, tries, waitMs, error: failure.error })
  await clock.delay(waitMs, AbortSignal.any([signal, closing]))
}

function lastError(
  model: string,
  failures: RequestFailures,
  { tries, firstSentAt }: Effort,
  clock: Clock,
  { hasWaited = false } = {},
): AppError {
  const { server, failure } = failures.last()
  const { code, message } = failure.error
  const models = isNotFound(failure) ? (server.offered.models() ?? []).filter((name) => name !== model) : []
  const offered = models.length === 0 ? '' : `; it offers ${shortModelList(models)}`
  const tookMs = Math.round(clock.now() - firstSentAt)
  const effort = tries === 1 && !hasWaited ? '' : ` (${tries} ${tries === 1 ? 'try' : 'tries'} in ${tookMs} ms)`
  const words = `${server.name}: ${message}${offered}${failures.otherServersText()}${effort}`
  const { kind } = failure
  if (kind !== 'request') return new ModelUnavailable(words, { cause: failure.error, kind })
  return new AppError(code, words, { cause: failure.error, phase: 'model' })
}

function isNotFound({ status }: TryFailure): boolean {
  return status === 404
}

function noServerIsUp(
  model: string,
  failures: RequestFailures | undefined,
  effort: Effort,
  { closing, lookup, clock, retryBudgetMs }: CompleteDeps,
): unknown {
  if (closing.aborted) return closing.reason
  if (failures !== undefined) {
    // Also after a reply that broke off: the server that broke it is down now.
    const { message, cause } = lastError(model, failures, effort, clock, { hasWaited: true })
    const { kind } = failures.last().failure
    return new ModelUnavailable(message, { cause, kind: kind === 'request' ? 'doubtful' : kind })
  }
  const words = `no model server has worked for ${retryBudgetMs} ms; look at ${lookup.servers().join(', ')}`
  return new ModelUnavailable(words)
}

const maxListed = 10
const most = { messageCharacters: 300, servers: 3, excerptCharacters: 120 }
/** A server or proxy that cuts every reply at its own limit must not use up the whole time of the caller. */
const maxCutReplies = 3

type RequestFailures = ReturnType<typeof openRequestFailures>

/**
 * The retry budget begins anew when another server fails the request for the first time or a reply breaks off: a try may take longer than
 * all of it, and must not cost the request the servers that have not been asked.
 */
function openRequestFailures(
  clock: Pick<Clock, 'now'>,
  { first, retryBudgetMs }: { first: FailedRequest; retryBudgetMs: number },
) {
  const listed: FailedTry[] = []
  const known = new Set<PooledServer>()
  const failedAt = new Set<PooledServer>()
  let last = first
  let [brokenReplies, cutReplies] = [0, 0]
  let deadline = -Infinity
  let hasHung = false
  const add = (failed: FailedRequest): void => {
    const { server, failure, sentAt } = failed
    last = failed
    hasHung ||= failure.hasHung === true
    if (isCutShort(failure)) cutReplies += 1
    if (!known.has(server) || (isCutShort(failure) && cutReplies < maxCutReplies))
      deadline = clock.now() + retryBudgetMs
    known.add(server)
    if (listed.length < maxListed) listed.push(toFailedTry(failed, clock.now() - sentAt))
    if (failure.error.code === 'AGENT_008' && !isCutShort(failure)) brokenReplies += 1
    if (requestEndOf(failure) !== 'overloaded') failedAt.add(server)
  }
  add(first)
  return {
    add,
    deadline: () => deadline,
    last: () => last,
    brokenReplies: () => brokenReplies,
    hasHung: () => hasHung,
    failedAt,
    list: (): readonly FailedTry[] => listed,
    otherServersText: () => otherServersText(listed, last.server),
  }
}

function isCutShort({ error }: FailedRequest['failure']): boolean {
  return error instanceof CutReply
}

function toFailedTry({ server, failure }: FailedRequest, durationMs: number): FailedTry {
  const { code, message } = failure.error
  const clipped = message.slice(0, most.messageCharacters)
  return { endpoint: server.name, code, message: clipped, durationMs: Math.round(durationMs) }
}

function otherServersText(listed: readonly FailedTry[], last: PooledServer): string {
  const byServer = new Map(listed.map(({ endpoint, message }) => [endpoint, message]))
  byServer.delete(last.name)
  const others = [...byServer].slice(0, most.servers)
  return others.map(([name, message]) => `; ${name}: ${message.slice(0, most.excerptCharacters)}`).join('')
}
