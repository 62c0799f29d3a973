import type { FailedTry } from '#domain/failed-try.ts'
import type { TryFailure } from '../wire/try-failure.ts'
import type { Replica } from './replicas/replica.ts'

export type FailedTries = {
  add(tried: { replica: Replica; failure: TryFailure }, durationMs: number): void
  /** The first of them, in order. */
  list(): readonly FailedTry[]
  /** What the servers said that failed before, other than this one; '' where there were none. */
  elsewhere(last: Replica): string
}

/** A request that waits for a busy server fails many times for one reason. */
const maxTold = 10
const most = { messageCharacters: 300, servers: 3, wordsCharacters: 120 }

/** What is told of the tries of one request that failed, for people. */
export function openFailedTries(): FailedTries {
  const told: FailedTry[] = []
  return {
    add({ replica, failure }, durationMs) {
      if (told.length === maxTold) return
      const { code, message } = failure.error
      const clipped = message.slice(0, most.messageCharacters)
      told.push({ endpoint: replica.name, code, message: clipped, durationMs: Math.round(durationMs) })
    },
    list: () => told,
    elsewhere(last) {
      const byServer = new Map(told.map(({ endpoint, message }) => [endpoint, message]))
      byServer.delete(last.name)
      const others = [...byServer].slice(0, most.servers)
      return others.map(([name, message]) => `; ${name}: ${message.slice(0, most.wordsCharacters)}`).join('')
    },
  }
}
