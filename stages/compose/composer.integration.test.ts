import { usualLimits } from '#sandbox/sandbox.fixture.ts'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { defaultProject, newToken, type RunId } from '#domain/ids.ts'
import { type Ledger, openLedger } from '#store/ledger/ledger.ts'
import { boundPort } from '#platform/http-health.ts'
import { noTracing } from '#platform/tracing/open-tracing.ts'
import { objectStoreName, silentLog, storeAtFault } from '#platform/log.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { putHashedJson } from '#store/objects/object-store.ts'
import { connectRedis, type RedisConnection } from '#platform/redis-client.ts'
import { anOutcome, aPlannedOperation, executing } from '#testing/open-test-ledger.ts'
import { recordedLog } from '#testing/recorded-log.ts'
import { type TestRedis, testRedis } from '#testing/redis.ts'
import { useOpened } from '#testing/use-opened.ts'
import { testComposition } from './composition.fixture.ts'
import { type Composer, type ComposerDeps, openComposer, type ThreadLimits } from './composer.ts'

const never = new AbortController().signal
/** A thread with so little memory dies of its start, and soon: with 16 MB it collects garbage for seconds, and V8 may end the process. */
const tooLittleMb = 10

describe('a composition in a thread', () => {
  let server: TestRedis
  let connection: RedisConnection
  let ledger: Ledger
  const composition = useOpened(testComposition)
  beforeAll(async () => {
    server = await testRedis()
    connection = connectRedis(server.url, { retries: null }, silentLog)
    ledger = openLedger(connection.redis) // the thread's ledger has the usual namespace
  })
  afterAll(async () => {
    connection.redis.disconnect()
    await server.close()
  })

  type ComposerChoice = ThreadLimits & { endpoint?: string; log?: ComposerDeps['log'] }

  function composer({ endpoint, log = silentLog, ...limits }: ComposerChoice = {}): Composer {
    const { accessKeyId, secretAccessKey, ...place } = composition.store.s3
    const s3 = { ...place, endpoint: endpoint ?? place.endpoint, credentials: { accessKeyId, secretAccessKey } }
    const worker = {
      workerId: 'w1',
      storage: { redisUrl: server.url, events: { maxInlineBytes: 16_384 }, s3 },
      environments: { dir: '/tmp', keptBytes: 0 },
      sandbox: { searchPath: '', limits: usualLimits, gateLimitS: 60 },
      secrets: [],
      logging: { level: 'silent' as const },
    }
    const deps = { ...composition.deps, ledger, stops: { on: () => () => {} }, log, traces: noTracing }
    const opened = openComposer(worker, deps, limits)
    onTestFinished(opened.close)
    return opened
  }

  /** A run of one operation that ended so. */
  async function executed(outcome: Parameters<typeof anOutcome>[0]): Promise<RunId> {
    const runId = await executing(ledger, [aPlannedOperation('f')])
    const [job] = (await ledger.dispatch(runId, 1)).taken
    const answer = job && (await ledger.claim({ runId, ...job }, newToken()))
    if (answer?.kind !== 'claimed') throw new Error('the operation was not claimed')
    await ledger.settle(answer.attempt, 1, { outcome: anOutcome(outcome), events: [] })
    return runId
  }
  const changed = { changeSetId: 'c'.repeat(12), recordHash: 'b'.repeat(64) }

  it('ends its run, one after the other in the same thread', async () => {
    const { compose } = composer()
    for (const runId of [await executed({}), await executed({})]) {
      await compose({ runId, stalls: 0 }, never)
      expect(await ledger.getRun(runId)).toMatchObject({ status: 'completed', composing: null })
    }
  })

  it('starts no thread for a run that has changed nothing', async () => {
    const runId = await executed({ status: 'unchanged' })
    await composer({ memoryMb: tooLittleMb }).compose({ runId, stalls: 0 }, never)
    expect(await ledger.getRun(runId)).toMatchObject({ status: 'completed', composing: null })
  })

  it('notes for a part of a patch why it cannot be composed, also when the thread died of it', async () => {
    const runId = await executed({ status: 'unchanged' })
    const noted = async () => (await ledger.getRun(runId)).parts.map((note) => 'errorCode' in note && note.errorCode)
    const jobOf = (part: string) => ({ runId, patch: { of: 'accepted', part: part.repeat(64) } }) as const
    await composer().composePatch(jobOf('a'), never)
    expect(await noted()).toEqual(['STORE_003'])
    await composer({ memoryMb: tooLittleMb }).composePatch(jobOf('b'), never)
    expect(await noted()).toEqual(['STORE_003', 'TOOL_004'])
    expect((await ledger.getRun(runId)).patches).toEqual({})
  })

  it('is ended at once by its signal, shows how far it was, and is taken up by another worker', async () => {
    const silent = createServer(() => {})
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => {
      silent.closeAllConnections()
      silent.close()
    })
    const runId = await executed(changed)
    const stop = new AbortController()
    const hanging = composer({ endpoint: `http://127.0.0.1:${boundPort(silent)}` })
    const composing = hanging.compose({ runId, stalls: 0 }, stop.signal)
    await once(silent, 'request')
    const progress = { operationsRead: 0, operations: 1, filesProved: 0, files: 0 }
    expect(await ledger.getRun(runId)).toMatchObject({ status: 'running', phase: 'review', composing: progress })
    stop.abort(new Error('the worker is stopping'))
    await expect(composing).rejects.toThrow('the worker is stopping')
    expect(await ledger.getRun(runId)).toMatchObject({ status: 'running', phase: 'review' })
    await composer().compose({ runId, stalls: 1 }, never)
    expect(await ledger.getRun(runId)).toMatchObject({ status: 'failed', errorCode: 'STORE_003', composing: null })
  })

  it('leaves its run as it is while the object store is away', async () => {
    const runId = await executed(changed)
    const away = composer({ endpoint: 'http://127.0.0.1:1' })
    const fault: unknown = await away.compose({ runId, stalls: 0 }, never).catch((error: unknown) => error)
    expect(fault).toMatchObject({ code: 'STORE_002', retry: true })
    expect(storeAtFault(fault)).toBe(objectStoreName)
    expect(await ledger.getRun(runId)).toMatchObject({ status: 'running', phase: 'review' })
  })

  it('fails its run when five threads died of it, and says of what', async () => {
    const runId = await executed({})
    await composer({ memoryMb: tooLittleMb }).compose({ runId, stalls: 2 }, never)
    const reason = expect.stringMatching(/review died 5 times: .*memory/)
    expect(await ledger.getRun(runId)).toMatchObject({
      status: 'failed',
      phase: 'review',
      errorCode: 'TOOL_004',
      reason,
    })
  })

  it('is ended when its event loop stands still, tried again in another thread, and fails its run after five', async () => {
    const changeSets = await endlessSets()
    const runId = await executed({ changeSetIds: ['c1', 'c2'], recordHash: changeSets })
    const { log, entries } = recordedLog()
    await composer({ stillMs: 1_000, log }).compose({ runId, stalls: 3 }, never)
    const why = 'one step took longer than 1000 ms'
    const died = { message: 'the thread that composed a run died', run_id: runId, reason: why }
    expect(entries).toMatchObject([died, died])
    expect(await ledger.getRun(runId)).toMatchObject({
      status: 'failed',
      phase: 'review',
      errorCode: 'TOOL_004',
      reason: `the process that worked on its review died 5 times: ${why}`,
    })
  }, 60_000)

  /** A record of two sets of so many new files that putting them together keeps a thread busy for seconds at a time. */
  function endlessSets(): Promise<string> {
    const { operationId, bundle, node } = aPlannedOperation('f')
    const changeSets = ['c1', 'c2'].map((changeSetId) => {
      const own = Array.from({ length: 120_000 }, (_none, at) => `generated/${changeSetId}/part_${at}.txt`)
      const files = ['shared.txt', ...own].map((path) => ({ kind: 'create', path, content: '' }))
      return { changeSetId, operationId, bundle, nodeId: node.nodeId, files, evidence: [] }
    })
    const keyOf = (hash: string) => objectKeys.attempt(defaultProject, hash)
    return putHashedJson(composition.store.objects, keyOf, { changeSet: null, changeSets })
  }
})
