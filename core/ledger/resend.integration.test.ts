import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { aNewRun, anEvent, anOutcome, aPlannedOperation } from '#testing/factories.ts'
import { testLedger, type TestLedger } from '#testing/ledger.ts'
import type { Attempt } from './claim.ts'

let test: TestLedger
beforeAll(async () => {
  test = await testLedger()
})
afterAll(() => test.close())

const root = aPlannedOperation('root')
const child = aPlannedOperation('child', {}, [root])

/** A command as a client sends it, with everything it needs already there. */
type Command = { runId: RunId; send(): Promise<unknown>; again?: unknown }

async function attemptOf(runId: RunId): Promise<Attempt> {
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  return attempt
}

const commands: Record<string, () => Promise<Command>> = {
  async createRun() {
    const run = aNewRun()
    return { runId: run.runId, send: () => test.ledger.createRun(run) }
  },
  async move() {
    const runId = await test.executing([root])
    const events = [anEvent({ event: 'run.failed', phase: 'execution' })]
    const change = { from: [{ status: 'running' }], to: { status: 'failed' }, command: 'end', events } as const
    return { runId, send: () => test.ledger.move(runId, change), again: 'already' }
  },
  async plan() {
    const { runId } = await created()
    const slice = { slice: 0, operations: [root, child], last: true }
    return { runId, send: () => test.ledger.plan(runId, slice), again: 'already' }
  },
  async dispatch() {
    const runId = await test.executing([root, aPlannedOperation('other'), child])
    return { runId, send: () => test.ledger.dispatch(runId, 1, 'command') }
  },
  async claim() {
    const runId = await test.executing([root])
    await test.ledger.dispatch(runId, 1)
    const job = { runId, operationId: root.operationId, dispatch: 1 }
    return { runId, send: () => test.ledger.claim(job, 'token') }
  },
  async append() {
    const runId = await test.executing([root])
    const attempt = await attemptOf(runId)
    return { runId, send: () => test.ledger.append(attempt, 1, [anEvent(), anEvent()]) }
  },
  async settle() {
    const runId = await test.executing([root, child])
    const attempt = await attemptOf(runId)
    const settlement = { outcome: anOutcome({ status: 'failed' }), events: [anEvent()] }
    return { runId, send: () => test.ledger.settle(attempt, 1, settlement), again: { kind: 'already' } }
  },
  async release() {
    const runId = await test.executing([root])
    const attempt = await attemptOf(runId)
    const handedBack = { reason: 'drain', events: [anEvent()] } as const
    return { runId, send: () => test.ledger.release(attempt, 1, handedBack), again: { kind: 'already' } }
  },
  async relayResults() {
    const runId = await test.executing([root, child])
    await test.ledger.settle(await attemptOf(runId), 1, { outcome: anOutcome({ status: 'failed' }), events: [] })
    return { runId, send: () => test.ledger.relayResults(runId), again: 0 }
  },
}

async function created() {
  const run = aNewRun()
  await test.ledger.createRun(run)
  return run
}

/** Everything the run's keys hold, apart from the time a lease runs out. */
async function stateOf(runId: RunId): Promise<unknown> {
  const keys = (await test.redis.keys(`${test.namespace}:{${runId}}:*`)).toSorted()
  const contents = await Promise.all(keys.map(async (key) => [key, await contentOf(key)]))
  const results = await test.redis.xrange(`${test.namespace}:results`, '-', '+')
  return { contents, results: results.filter(([, fields]) => fields.includes(runId)) }
}

async function contentOf(key: string): Promise<unknown> {
  if (key.endsWith(':leases')) return test.redis.zrange(key, '0', '-1')
  const type = await test.redis.type(key)
  if (type === 'string') return test.redis.get(key)
  if (type === 'hash') return test.redis.hgetall(key)
  if (type === 'zset') return test.redis.zrange(key, '0', '-1', 'WITHSCORES')
  if (type === 'list') return test.redis.lrange(key, 0, -1)
  if (type === 'set') return (await test.redis.smembers(key)).toSorted()
  return test.redis.xrange(key, '-', '+')
}

describe('a command whose answer was lost and that is sent again', () => {
  it.each(Object.keys(commands))('%s gives its answer again and changes nothing', async (name) => {
    const command = await commands[name]?.()
    if (command === undefined) throw new Error(name)
    const before = await stateOf(command.runId)
    const answer = await command.send()
    const after = await stateOf(command.runId)
    expect(after).not.toEqual(before)
    expect(await command.send()).toEqual('again' in command ? command.again : answer)
    expect(await stateOf(command.runId)).toEqual(after)
  })

  it('works on a server that has forgotten the scripts', async () => {
    const runId = await test.executing([root])
    await test.redis.script('FLUSH')
    expect((await test.ledger.dispatch(runId, 1)).taken).toHaveLength(1)
  })
})
