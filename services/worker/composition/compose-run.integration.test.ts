import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { openBlobStore } from '#objects/blob-store.ts'
import { anOutcome, aPlannedOperation } from '#testing/factories.ts'
import { testLedger, type TestLedger } from '#testing/ledger.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { openEvidenceChecker } from '../evidence/evidence-checker.ts'
import { openRunRules } from '../evidence/run-rules.ts'
import { openSyntaxChecker } from '../evidence/syntax-checker.ts'
import { openPythonLinter, type PythonLinter } from '#lint/python-linter.ts'
import { composeRun, type CompositionDeps } from './compose-run.ts'

const never = new AbortController().signal

describe('composeRun', () => {
  let test: TestLedger
  let store: TestObjects
  let linter: PythonLinter
  const syntax = openSyntaxChecker()
  let deps: CompositionDeps
  beforeAll(async () => {
    test = await testLedger()
    store = await testObjects()
    linter = await openPythonLinter()
    const python = await loadLanguage('python')
    deps = {
      ledger: test.ledger,
      python,
      objects: store.objects,
      blobs: openBlobStore(store.objects, { maxCacheBytes: 0 }),
      evidence: openEvidenceChecker({ linter, python, syntax }),
      runRules: openRunRules(store.objects),
      workerId: 'w1',
    }
  })
  afterAll(async () => {
    await test.close()
    await store.close()
    await linter.close()
    await syntax.close()
  })

  async function executed(outcome: Parameters<typeof anOutcome>[0]): Promise<RunId> {
    const runId = await test.executing([aPlannedOperation('f')])
    const [attempt] = await test.claimReady(runId)
    if (attempt === undefined) throw new Error('nothing was ready')
    await test.ledger.settle(attempt, 1, { outcome: anOutcome(outcome), events: [] })
    return runId
  }

  it('completes a run without changes, once', async () => {
    const runId = await executed({ status: 'unchanged' })
    await composeRun(runId, deps, never)
    const { seq } = await test.ledger.getRun(runId)
    await composeRun(runId, deps, never)
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'completed', seq })
    expect((await test.ledger.verify(runId)).violations).toEqual([])
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
})
