import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChangeSet, Edit } from '#domain/change-set.ts'
import { changeSetId, type RunId } from '#domain/ids.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { putHashedJson } from '#store/objects/object-store.ts'
import { aPlannedItem, anItem, conductedRun, dispatchItems, takeStep } from '#testing/conducted-run.ts'
import { anOutcome, aPlannedOperation, type TestLedger } from '#testing/open-test-ledger.ts'
import type { TestObjects } from '#testing/s3.ts'
import { composeRun, type CompositionDeps } from './compose-run.ts'
import { type TestComposition, testComposition } from './composition.fixture.ts'

const never = new AbortController().signal

describe('composeRun', () => {
  let opened: TestComposition
  let test: TestLedger
  let store: TestObjects
  let deps: CompositionDeps
  beforeAll(async () => {
    opened = await testComposition()
    ;({ test, store, deps } = opened)
  })
  afterAll(() => opened.close())

  /** A run whose operations ended so, one after the other in the order of the plan. */
  async function executed(...outcomes: Parameters<typeof anOutcome>[0][]): Promise<RunId> {
    const runId = await test.executing(outcomes.map((_, at) => aPlannedOperation(`f${at}`)))
    const attempts = await test.claimReady(runId)
    for (const [at, attempt] of attempts.entries())
      await test.ledger.settle(attempt, 1, { outcome: anOutcome(outcomes[at]), events: [] })
    return runId
  }

  const failed = (errorCode: string) => ({ status: 'failed', errorCode, reason: 'it did not work' }) as const
  const lastEvent = async (runId: RunId) => {
    const { seq } = await test.ledger.getRun(runId)
    return (await test.ledger.readEvents(runId, { after: seq - 1, limit: 1 }))[0]
  }

  it('completes a run without changes, once', async () => {
    const runId = await executed({ status: 'unchanged' })
    await composeRun(runId, deps, never)
    const { seq } = await test.ledger.getRun(runId)
    await composeRun(runId, deps, never)
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'completed', seq })
    expect((await test.ledger.verify(runId)).violations).toEqual([])
  })

  it('completes a run of which a part failed, and says how many', async () => {
    const runId = await executed(failed('AGENT_002'), { status: 'unchanged' }, failed('AGENT_004'))
    await composeRun(runId, deps, never)
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'completed', errorCode: null, reason: null })
    const data = { operations: { failed: 2, unchanged: 1, succeeded: 0 } }
    expect(await lastEvent(runId)).toMatchObject({ event: 'run.completed', status: 'ok', data })
  })

  it.each([
    ['the commonest code of those that failed', ['AGENT_002', 'AGENT_004', 'AGENT_004'], 'AGENT_004'],
    ['the first of codes that are equally common', ['TOOL_003', 'AGENT_006', 'TOOL_003', 'AGENT_006'], 'AGENT_006'],
  ])('fails a run of which nothing ended well, with %s', async (_, codes, errorCode) => {
    const runId = await executed({ status: 'blocked', errorCode: 'ASK_004' }, ...codes.map(failed))
    await composeRun(runId, deps, never)
    const reason = `no operation ended well: ${codes.length} failed, 1 blocked`
    const run = await test.ledger.getRun(runId)
    expect(run).toMatchObject({ status: 'failed', phase: 'review', errorCode, reason })
    expect(run.compositionKey).not.toBeNull()
    const data = { error_code: errorCode, reason, operations: { failed: codes.length }, change_sets: 0 }
    expect(await lastEvent(runId)).toMatchObject({ event: 'run.failed', status: 'error', errorCode, data })
    await composeRun(runId, deps, never)
    expect((await test.ledger.getRun(runId)).seq).toBe(run.seq)
    expect((await test.ledger.verify(runId)).violations).toEqual([])
  })

  it('fails a run whose operations were all blocked or skipped, with the code of the blocked ones', async () => {
    const first = aPlannedOperation('first')
    const runId = await test.executing([first, aPlannedOperation('second', {}, [first])])
    const [attempt] = await test.claimReady(runId)
    if (attempt === undefined) throw new Error('nothing was ready')
    const outcome = anOutcome({ status: 'blocked', errorCode: 'ASK_004' })
    await test.ledger.settle(attempt, 1, { outcome, events: [] })
    await composeRun(runId, deps, never)
    const reason = 'no operation ended well: 1 blocked, 1 skipped'
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'failed', errorCode: 'ASK_004', reason })
  })

  it('ends a run as blocked whose conductor has found no way on, with what was made of it before', async () => {
    const { ledger } = test
    const runId = await conductedRun(ledger)
    const version = await dispatchItems(ledger, runId, anItem('one'))
    await ledger.plan(runId, aPlannedItem('one', version, [aPlannedOperation('f')]))
    await test.settleAll(runId)
    const reason = 'the objective asks for what no agent does'
    await takeStep(ledger, runId, { close: { kind: 'blocked', code: 'POLICY_001', reason } })
    await composeRun(runId, deps, never)
    const run = await ledger.getRun(runId)
    expect(run).toMatchObject({ status: 'blocked', errorCode: 'POLICY_001', reason })
    expect(run.compositionKey).not.toBeNull()
    const data = { error_code: 'POLICY_001', reason, operations: { succeeded: 1 } }
    expect(await lastEvent(runId)).toMatchObject({ event: 'run.blocked', status: 'error', data })
    await ledger.relayResults(runId)
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('completes a run without operations', async () => {
    const runId = await test.executing([])
    await test.ledger.dispatch(runId, 1)
    await composeRun(runId, deps, never)
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'completed', errorCode: null })
  })

  it('fails a run whose change set is gone, with STORE_003 and not again and again', async () => {
    const runId = await executed({ changeSetId: 'a'.repeat(12), recordHash: 'b'.repeat(64) })
    await composeRun(runId, deps, never)
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'failed', phase: 'review', errorCode: 'STORE_003' })
  })

  it('leaves the run as it is when its worker stops meanwhile', async () => {
    const runId = await executed({ changeSetId: 'a'.repeat(12), recordHash: 'b'.repeat(64) })
    await expect(composeRun(runId, deps, AbortSignal.abort())).rejects.toThrow(/./)
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'running', phase: 'review' })
  })

  it('reads nothing more once it is stopped', async () => {
    const runId = await executed({ changeSetId: 'a'.repeat(12), recordHash: 'b'.repeat(64) })
    const stop = new AbortController()
    const listOperations: typeof test.ledger.listOperations = (...asked) => {
      stop.abort(new Error('the run is stopped'))
      return test.ledger.listOperations(...asked)
    }
    const stopping = composeRun(runId, { ...deps, ledger: { ...test.ledger, listOperations } }, stop.signal)
    await expect(stopping).rejects.toThrow('the run is stopped')
  })

  it('ends no run whose work was done again while it was composed: it has not seen that', async () => {
    const runId = await executed({ status: 'unchanged' })
    let isSlow = true
    const readDecisions: typeof test.ledger.readDecisions = async (...asked) => {
      const decisions = await test.ledger.readDecisions(...asked)
      if (!isSlow) return decisions
      isSlow = false
      await test.repeated(runId, [aPlannedOperation('f0')])
      await test.settleAll(runId)
      expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'running', phase: 'review' })
      return decisions
    }
    const slow = { ...deps, ledger: { ...test.ledger, readDecisions } }
    await composeRun(runId, slow, never)
    expect((await test.ledger.getRun(runId)).status).toBe('running')
    await composeRun(runId, slow, never)
    expect((await test.ledger.getRun(runId)).status).toBe('completed')
    expect((await test.ledger.verify(runId)).violations).toEqual([])
  })

  describe('where a change that others are built on was rejected meanwhile', () => {
    const source = 'one = 1\ntwo = 2\n'
    const base = aPlannedOperation('base')
    const upon = aPlannedOperation('upon', {}, [base])

    async function settle(attempt: Attempt, edit: Edit, builtOn?: string[]): Promise<ChangeSet> {
      const { operationId, bundle, node, projectId } = attempt
      const baseHash = await deps.blobs.put(projectId, Buffer.from(source))
      const files = [{ kind: 'edit' as const, path: 'a.py', baseHash, edits: [edit] }]
      const of = { operationId, bundle, nodeId: node.nodeId, files, evidence: [] }
      const set = { changeSetId: changeSetId(operationId, files), ...of, ...(builtOn && { builtOn }) }
      const record = { changeSet: set }
      const recordHash = await putHashedJson(store.objects, (hash) => objectKeys.attempt(projectId, hash), record)
      const outcome = anOutcome({ changeSetId: set.changeSetId, recordHash, changedFiles: ['a.py'] })
      await test.ledger.settle(attempt, 1, { outcome, events: [] })
      return set
    }

    async function claimOne(runId: RunId): Promise<Attempt> {
      const [attempt, ...more] = await test.claimReady(runId)
      if (attempt === undefined || more.length > 0) throw new Error('not one was ready')
      return attempt
    }

    it('says that a file is being checked as soon as it is, however soon that is after the changes were read', async () => {
      const runId = await test.executing([base])
      await settle(await claimOne(runId), { start: 6, end: 7, text: '3' })
      await test.ledger.dispatch(runId, 1)
      let seen: unknown
      const get: typeof deps.blobs.get = async (...asked) => {
        seen ??= (await test.ledger.getRun(runId)).composing
        return deps.blobs.get(...asked)
      }
      await composeRun(runId, { ...deps, blobs: { ...deps.blobs, get } }, never)
      expect(seen).toEqual({ operationsRead: 1, operations: 1, filesProved: 0, files: 1 })
    })

    it('does the work once more that needs it, and then completes the run', async () => {
      const runId = await test.executing([base, upon])
      const first = await claimOne(runId)
      const rejected = await settle(first, { start: 6, end: 7, text: '3' })
      const second = await claimOne(runId)
      const { operationId, bundle: agent, node } = first
      const what = { changeSetId: rejected.changeSetId, verdict: 'rejected', before: 'pending', reason: null } as const
      const where = { runId, operationId, recordHash: 'a'.repeat(64), agent, node }
      await test.ledger.decide(runId, { last: 0, decisions: [{ ...what, ...where }], by: { kind: 'human', id: 't' } })
      await settle(second, { start: 14, end: 15, text: '4' }, [rejected.changeSetId])
      await test.ledger.dispatch(runId, 1)
      await composeRun(runId, deps, never)
      expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'running', phase: 'execution' })

      const again = await claimOne(runId)
      expect(again).toMatchObject({ startsFrom: [operationId], repeats: { operationId: second.operationId } })
      await settle(again, { start: 14, end: 15, text: '5' }, [rejected.changeSetId])
      await test.ledger.dispatch(runId, 1)
      await composeRun(runId, deps, never)
      expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'completed' })
      expect((await test.ledger.verify(runId)).violations).toEqual([])
    })
  })
})
