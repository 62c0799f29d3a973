import { CutReply } from '#domain/error.ts'
import type { FailedTry } from '#domain/turn.ts'
import type { Clock } from '#platform/clock.ts'
import type { FailedRequest } from './send-request.ts'
import { requestEndOf, type PooledServer } from './servers/pooled-server.ts'

const maxListed = 10
const most = { messageCharacters: 300, servers: 3, excerptCharacters: 120 }
/** A server or proxy that cuts every reply at its own limit must not use up the whole time of the caller. */
const maxCutReplies = 3

export type RequestFailures = ReturnType<typeof openRequestFailures>

/**
 * The retry budget begins anew when another server fails the request for the first time or a reply breaks off: a try may take longer than
 * all of it, and must not cost the request the servers that have not been asked.
 */
export function openRequestFailures(
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
