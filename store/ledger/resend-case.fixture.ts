import type { Redis } from 'ioredis'
import type { RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { aPlannedOperation, type TestLedger } from '#testing/open-test-ledger.ts'
import type { Attempt } from './attempt.ts'
import type { Ledger } from './ledger.ts'

/** Over the connection that loses answers, or over a reliable one. */
export type Client = { ledger: Ledger; redis: Redis; namespace: string }

/** A command whose preconditions are set up. */
export type PreparedCommand = {
  runId: RunId
  send(client: Client): Promise<unknown>
  /** Its answer when it was applied before, where that differs from the first answer. */
  again?: unknown
}

export type ResendCase = {
  /** The `.lua` it is about, without the ending. */
  script: string
  what: string
  prepare(test: TestLedger): Promise<PreparedCommand>
}

export const origin = { kind: 'api', id: 'test' } as const
export const root = aPlannedOperation('root')
export const child = aPlannedOperation('child', {}, [root])

/** The first attempt of `root`. */
export async function startedAttempt(test: TestLedger, operations: readonly PlannedOperation[]): Promise<Attempt> {
  const runId = await test.executing(operations)
  await test.ledger.dispatch(runId, 1, { command: 'first' })
  const answer = await test.ledger.claim({ runId, operationId: root.operationId, dispatch: 1 }, 'the-token')
  if (answer.kind !== 'claimed') throw new Error('nothing was ready')
  return answer.attempt
}

/** As if the lease had run out long ago, and those of some attempts before. */
export async function loseWorker({ redis, namespace }: TestLedger, runId: RunId, lostBefore = 0): Promise<void> {
  await redis.zadd(`${namespace}:{${runId}}:leases`, 1, root.operationId)
  await redis.hset(`${namespace}:{${runId}}:op:${root.operationId}`, 'lost', lostBefore)
}

export async function stopRun(test: TestLedger, runId: RunId): Promise<void> {
  await test.ledger.cancel(runId, { reason: 'enough', origin })
}
