import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newToken, type RunId } from '#domain/ids.ts'
import { anEvent, aNewRun, anOutcome, aPlannedOperation, executing, settleAll } from '#testing/open-test-ledger.ts'
import type { Attempt } from './attempt.ts'
import { openSmallRedis, type SmallRedis } from '#testing/redis.ts'
import { silentLog } from '#platform/log.ts'
import { recordedLog } from '#testing/recorded-log.ts'
import { openLedger, type Ledger } from './ledger.ts'
import { openMemoryGate } from './memory-gate.ts'
import { openRetention } from './retention.ts'
import { runState } from './run-state.fixture.ts'

let small: SmallRedis
let ledger: Ledger
beforeEach(async () => {
  small = await openSmallRedis()
  ledger = openLedger(small.redis)
})
afterEach(() => small.close())

async function claimed(runId: RunId): Promise<Attempt> {
  const { taken } = await ledger.dispatch(runId, 1)
  for (const job of taken) {
    const answer = await ledger.claim({ runId, ...job }, newToken())
    if (answer.kind === 'claimed') return answer.attempt
  }
  throw new Error('nothing was ready')
}

describe('the memory gate', () => {
  it('lets runs in again when there is room, and those under way go on meanwhile', async () => {
    const { log, messages } = recordedLog()
    const gate = openMemoryGate(small.redis, 0.8, log)
    const runId = await executing(ledger, [aPlannedOperation('one'), aPlannedOperation('two')])
    await gate()
    await small.fillTo(0.82)
    await expect(gate()).rejects.toMatchObject({
      code: 'STORE_001',
      status: 503,
      detail: expect.stringMatching(/^Redis uses 8[1-3] % of its memory; no new run is accepted above 80 %\.$/),
    })
    const attempt = await claimed(runId)
    expect(await ledger.settle(attempt, 1, { outcome: anOutcome(), events: [anEvent()] })).toMatchObject({
      kind: 'settled',
    })
    await expect(gate()).rejects.toMatchObject({ code: 'STORE_001' })
    await small.empty()
    await gate()
    const refuses = expect.stringMatching(/^Redis uses 8\d % of its memory/)
    expect(messages()).toEqual([refuses, 'new runs are accepted again'])
  })

  it('goes by the memory of the machine when Redis has no limit', async () => {
    await small.fillTo(0.9)
    await small.redis.config('SET', 'maxmemory', '0')
    await openMemoryGate(small.redis, 0.8, silentLog)()
    await expect(openMemoryGate(small.redis, 1e-7, silentLog)()).rejects.toMatchObject({ code: 'STORE_001' })
  })
})

describe('a Redis that is full', () => {
  // A script is refused at its first write that takes memory, unless an earlier one of it made room: then it is done.
  it('does every script whole or not at all, and each goes through when there is room again', async () => {
    const operations = [aPlannedOperation('one'), aPlannedOperation('two'), aPlannedOperation('three')]
    const runId = await executing(ledger, operations)
    const attempt = await claimed(runId)
    const released = await claimed(runId)
    const { taken } = await ledger.dispatch(runId, 1)
    const [job] = taken
    if (job === undefined) throw new Error('nothing was ready')
    const planning = aNewRun()
    await ledger.createRun(planning)
    const token = newToken()
    const run = aNewRun()
    const settlement = { outcome: anOutcome(), events: [anEvent()], result: { details: {} } }
    const commands = {
      createRun: () => ledger.createRun(run),
      plan: () => ledger.plan(planning.runId, { slice: 0, operations, last: true }),
      claim: () => ledger.claim({ runId, ...job }, token),
      append: () => ledger.append(attempt, 1, { events: [anEvent()] }),
      settle: () => ledger.settle(attempt, 2, settlement),
      release: () => ledger.release(released, 1, { reason: 'drain', delayMs: 0, events: [] }),
    }
    const ids = [runId, planning.runId, run.runId]
    const all = async () => Promise.all(ids.map((id) => runState(small.redis, 'remora', id)))
    const refused: string[] = []
    await small.fill()
    for (const [name, command] of Object.entries(commands)) {
      const before = await all()
      const fault: unknown = await command().then(
        () => undefined,
        (error: unknown) => error,
      )
      if (fault === undefined) continue
      expect(fault).toMatchObject({
        code: 'STORE_001',
        retry: true,
        cause: { message: expect.stringMatching(/^OOM /) },
      })
      expect(await all()).toEqual(before)
      refused.push(name)
    }
    expect(refused).toEqual(expect.arrayContaining(['createRun', 'plan', 'append']))

    await small.empty()
    for (const command of Object.values(commands)) await command()
    expect((await ledger.verify(runId)).violations).toEqual([])
    expect(await ledger.getRun(runId)).toMatchObject({ counts: { succeeded: 1, running: 1 } })
  })

  it('lets old runs be forgotten, which makes room', async () => {
    const runId = await executing(ledger, [aPlannedOperation('one')])
    const { projectId } = await ledger.getRun(runId)
    await settleAll(ledger, runId)
    await ledger.move(runId, { from: [{ status: 'running' }], to: { status: 'failed' }, command: 'end', events: [] })
    await small.fill()
    expect(await openRetention(small.redis).forgetRun({ projectId, runId })).toBe('forgotten')
    expect(await small.redis.keys(`remora:{${runId}}:*`)).toEqual([])
  })
})
