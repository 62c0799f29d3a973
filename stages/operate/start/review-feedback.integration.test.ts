import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChangeSet } from '#domain/change-set.ts'
import { changeSetId, newRunId, sha256, type RunId } from '#domain/ids.ts'
import { putHashedJson } from '#store/objects/object-store.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { anOutcome, aPlannedOperation, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import { openReviewFeedback } from './review-feedback.ts'

let test: TestLedger
let store: TestObjects
beforeAll(async () => {
  test = await testLedger()
  store = await testObjects()
})
afterAll(async () => {
  await test.close()
  await store.close()
})

const operation = aPlannedOperation('changed')
const by = { kind: 'human', id: 't1' } as const

function docstring(text: string): ChangeSet {
  const { operationId, bundle, node } = operation
  const files = [{ kind: 'edit' as const, path: 'a.py', baseHash: sha256('a'), edits: [{ start: 0, end: 0, text }] }]
  return { changeSetId: changeSetId(operationId, files), operationId, bundle, nodeId: node.nodeId, files, evidence: [] }
}

/** A run whose operation made the set. */
async function runThat(made: ChangeSet): Promise<RunId> {
  const runId = await test.executing([operation])
  await make(runId, made)
  return runId
}

async function make(runId: RunId, made: ChangeSet): Promise<void> {
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  await test.ledger.settle(attempt, 1, { outcome: anOutcome({ changeSetId: made.changeSetId }), events: [] })
}

/** Rejects the set; its record is stored unless it is to be gone. */
async function reject(
  runId: RunId,
  set: ChangeSet,
  reason: string | null,
  { isGone = false, note }: { isGone?: boolean; note?: string } = {},
): Promise<void> {
  const record = { changeSet: set }
  const put = () => putHashedJson(store.objects, (hash) => objectKeys.attempt(store.project, hash), record)
  const recordHash = isGone ? sha256(newRunId(Date.now())) : await put()
  const { last } = await test.ledger.readDecisions(runId)
  const { operationId, node, bundle: agent } = operation
  const where = { operationId, recordHash, node, agent }
  const decision = { changeSetId: set.changeSetId, verdict: 'rejected', before: 'pending', reason, ...where } as const
  await test.ledger.decide(runId, { last, decisions: [{ ...decision, ...(note && { note }) }], by })
}

type Told = Parameters<ReturnType<typeof openReviewFeedback>>[0]

async function told(runId: RunId, maxTokens = 400, over: Partial<Told> = {}): Promise<string> {
  const feedbackOn = openReviewFeedback({ ledger: test.ledger, objects: store.objects })
  const { operationId } = operation
  return feedbackOn({ runId, projectId: store.project, operationId, generation: 2, repeats: null, ...over }, maxTokens)
}

describe('what an agent is told of a rejection', () => {
  it('is nothing where a change was rejected with another one without a word, and with a word both', async () => {
    const set = docstring('"""It does so."""\n')
    const former = await runThat(set)
    const note = 'built on lint a.py f c1, which was rejected'
    await reject(former, set, null, { note })
    expect(await told(former)).toBe('')
    await reject(former, set, 'The fix was wrong.', { note })
    expect(await told(former)).toContain(`- ${note}: The fix was wrong.\n`)
  })

  it('is never without what was said, however long the change is', async () => {
    const set = docstring(`"""${'word '.repeat(2_000)}"""\n`)
    const former = await runThat(set)
    const reason = `${'why '.repeat(200)}at last.`
    await reject(former, set, reason)
    const text = await told(former, 200)
    expect(text).toContain(reason)
    expect(text.length).toBeLessThan(1_600)
  })

  it('is what was said alone where the change is gone', async () => {
    const set = docstring('"""Gone."""\n')
    const former = await runThat(set)
    await reject(former, set, 'No.', { isGone: true })
    expect(await told(former)).toMatch(/\n- No\.$/)
  })

  it('is nothing in the first generation, and is told once more where a later one runs again since it collided', async () => {
    const set = docstring('"""Do it."""\n')
    const runId = await runThat(set)
    await reject(runId, set, 'Say what it does.')
    expect(await told(runId, 400, { generation: 1 })).toBe('')
    const [again] = await test.reopened(runId, [operation])
    await make(runId, docstring('"""Does it."""\n'))
    const [once] = await test.repeated(runId, [operation])
    for (const [generation, record] of [again, once].entries()) {
      if (record === undefined) throw new Error('nothing was planned')
      const { operationId, repeats = null } = record
      const attempt = { operationId, repeats, generation: generation + 2 }
      expect(await told(runId, 400, attempt)).toContain('- Say what it does.\n')
    }
  })
})
