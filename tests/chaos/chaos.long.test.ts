import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { resultKeys, runKeys } from '#store/ledger/keys.ts'
import { startChaosStack, type ChaosStack } from './chaos-stack.ts'
import { checkRun, type HistoryRun } from './check-run.ts'
import { drawHistory } from './draw-history.ts'
import { lacksMachines } from './machines.ts'
import { runChaos } from './run-chaos.ts'
import { runHistory } from './run-history.ts'

const seed = 4_000
/** Has pushes to two branches, a killed publisher, and webhooks that are lost and doubled. */
const pushedSeed = 5_137
const print = (line: string) => void process.stdout.write(`${line}\n`)

describe('ten histories of random faults', () => {
  it('lose no operation, do none twice, and leave nothing behind', { timeout: 600_000 }, async () => {
    const outcomes = await runChaos({ seed, runs: 10, pushes: false, print })
    expect(outcomes.flatMap(({ violations }) => violations)).toEqual([])
    expect(outcomes).toHaveLength(10)
    expect(outcomes.map(({ answered }) => answered).some((answered) => answered > 0)).toBe(true)
  })
})

describe.skipIf(lacks('git'))('a history with pushes', () => {
  it('ends in one run, one check run and one pull request of what was pushed last', { timeout: 300_000 }, async () => {
    const outcomes = await runChaos({ seed: pushedSeed, runs: 1, pushes: true, print })
    expect(outcomes.flatMap(({ violations }) => violations)).toEqual([])
    expect(outcomes.map(({ host }) => (host?.pushes ?? 0) > 0 && (host?.webhooks ?? 0) > 0)).toEqual([true])
  })
})

const lack = lacksMachines()
if (lack !== undefined) print(`the histories between machines are skipped: ${lack}`)

describe.skipIf(lack !== undefined)('two histories of faults between machines', () => {
  it('lose no operation, do none twice, and no service holds a dead connection', { timeout: 900_000 }, async () => {
    const outcomes = await runChaos({ seed: 4_086, runs: 2, machines: true, print })
    expect(outcomes.flatMap(({ violations }) => violations)).toEqual([])
    const tallies = outcomes.flatMap(({ network }) => network ?? [])
    expect(tallies).toHaveLength(2)
    expect(tallies.some(({ lostPackets }) => lostPackets > 0)).toBe(true)
    expect(tallies.some(({ lostConnections }) => lostConnections > 0)).toBe(true)
  })
})

describe('the check of a history', () => {
  const open: { stack?: ChaosStack; dir?: string } = {}
  let stack: ChaosStack
  let run: HistoryRun

  beforeAll(async () => {
    open.dir = await mkdtemp(join(tmpdir(), 'remora-chaos-'))
    stack = open.stack = await startChaosStack(open.dir)
    const { submissions, ...history } = drawHistory(seed)
    const quiet = { ...history, submissions: submissions.slice(0, 1), latencyMs: 0, faults: [] }
    const { runs } = await runHistory(quiet, stack)
    const [first] = runs
    if (first === undefined) throw new Error('the history had no run')
    run = first
  }, 300_000)
  afterAll(async () => {
    await open.stack?.close()
    if (open.dir !== undefined) await rm(open.dir, { recursive: true, force: true, maxRetries: 5 })
  })

  const violations = async () => (await checkRun(run, stack)).violations.join('\n')

  it('finds nothing in a history without faults', async () => {
    expect(await violations()).toBe('')
  })

  it('finds a counter that was changed', async () => {
    const { run: key } = runKeys('remora', run.runId)
    await stack.redis.hincrby(key, 'n:unchanged', 1)
    expect(await violations()).toContain(`run ${run.runId}: verify 2:`)
    await stack.redis.hincrby(key, 'n:unchanged', -1)
    expect(await violations()).toBe('')
  })

  it('finds a result that was published twice', async () => {
    const { operations } = runKeys('remora', run.runId)
    const [operation = ''] = await stack.redis.zrange(operations, '0', '0')
    const { results } = resultKeys('remora')
    await stack.redis.xadd(results, '*', 'run_id', run.runId, 'operation_id', operation, 'result', '{}')
    expect(await violations()).toContain(`verify 6: operation ${operation}`)
  })

  it('finds a lease that was left behind', async () => {
    const { leases } = runKeys('remora', run.runId)
    await stack.redis.zadd(leases, 1, 'o1')
    expect(await violations()).toContain('verify 8:')
  })
})
