import { beforeAll, describe, expect, it } from 'vitest'
import { newToken, type RunId } from '#domain/ids.ts'
import { anOutcome, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import type { Attempt } from './attempt.ts'
import type { Taken } from './dispatch.ts'
import { runKeys } from './keys.ts'
import type { Ledger } from './ledger.ts'

let ledger: Ledger
const test = useOpened(testLedger)
beforeAll(async () => {
  ledger = test.ledger
})

const root = aPlannedOperation('root')

/** Their workers fall silent: the leases of all that run out. */
async function loseAll(runId: RunId): Promise<void> {
  const { leases } = runKeys(test.namespace, runId)
  for (const id of await test.redis.zrange(leases, '0', '-1')) await test.redis.zadd(leases, 1, id)
}

async function claimAll(runId: RunId, taken: readonly Taken[]): Promise<Attempt[]> {
  const answers = await Promise.all(taken.map((job) => ledger.claim({ runId, ...job }, newToken())))
  return answers.flatMap((answer) => (answer.kind === 'claimed' ? [answer.attempt] : []))
}

async function onlyAttempt(runId: RunId): Promise<Attempt> {
  const [attempt, ...more] = await test.claimReady(runId)
  if (attempt === undefined || more.length > 0) throw new Error(`${more.length} attempts more than one`)
  return attempt
}

describe('an operation whose worker falls silent', () => {
  it('keeps the operation when it is heard again before anybody looked, also from a delivery of the same job', async () => {
    const runId = await test.executing([root])
    const attempt = await onlyAttempt(runId)
    await loseAll(runId)
    const job = { runId, operationId: root.operationId, dispatch: 1 }
    expect(await ledger.claim(job, newToken())).toEqual({ kind: 'busy' })
    expect(await ledger.append(attempt, 1, { events: [] })).toEqual({ kind: 'ok', stopRequested: false })
    await ledger.sweep(runId)
    expect(await ledger.settle(attempt, 2, { outcome: anOutcome(), events: [] })).toEqual({ kind: 'settled' })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('fails alone: no operation fails for what ran beside it, however many kill their worker', async () => {
    const killers = [root, aPlannedOperation('late', { priority: 20 }), aPlannedOperation('last', { priority: 30 })]
    const bystanders = Array.from({ length: 9 }, (_, at) => aPlannedOperation(`by${at}`, { priority: 10 + 3 * at }))
    const runId = await test.executing([...killers, ...bystanders])
    const killing = new Set(killers.map(({ operationId }) => operationId))
    for (let rounds = 0; (await ledger.getRun(runId)).phase === 'execution'; rounds++) {
      expect(rounds).toBeLessThan(60)
      const { taken } = await ledger.dispatch(runId, 3, { window: 3 })
      const attempts = await claimAll(runId, taken)
      expect(attempts.length).toBeGreaterThan(0)
      if (attempts.some(({ operationId }) => killing.has(operationId))) await loseAll(runId)
      else for (const attempt of attempts) await ledger.settle(attempt, 1, { outcome: anOutcome(), events: [] })
      await ledger.sweep(runId)
    }
    expect((await ledger.getRun(runId)).counts).toMatchObject({ failed: 3, succeeded: 9 })
    for (const id of killing) expect(await ledger.getOperation(runId, id)).toMatchObject({ status: 'failed' })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })
})

describe('an operation handed back with a rest', () => {
  it('is ready at once, and dispatched when the rest is over', async () => {
    const runId = await test.executing([root])
    await ledger.release(await onlyAttempt(runId), 1, { reason: 'store', delayMs: 300, events: [] })
    expect(await ledger.dispatch(runId, 5)).toMatchObject({ taken: [], ready: 1 })
    expect((await ledger.verify(runId)).violations).toEqual([])
    const { taken } = await until(() => ledger.dispatch(runId, 5), { holds: (answer) => answer.taken.length > 0 })
    expect(taken).toEqual([{ operationId: root.operationId, dispatch: 2 }])
    expect((await ledger.verify(runId)).violations).toEqual([])
  })
})
