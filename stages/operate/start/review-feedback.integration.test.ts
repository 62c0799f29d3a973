import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChangeSet } from '#domain/change-set.ts'
import { changeSetId, newRunId, repeatedOperationId, sha256, type RunId } from '#domain/ids.ts'
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

/** A run whose operation made the set; undefined: it changed nothing. */
async function runThat(made: ChangeSet | undefined, retryOf?: RunId): Promise<RunId> {
  const runId = await test.executing([operation], retryOf === undefined ? {} : { retryOf })
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  const outcome = made === undefined ? anOutcome({ status: 'unchanged' }) : anOutcome({ changeSetId: made.changeSetId })
  await test.ledger.settle(attempt, 1, { outcome, events: [] })
  return runId
}

/** Rejects the set; its record is stored unless it is to be gone. */
async function reject(
  root: RunId,
  runId: RunId,
  set: ChangeSet,
  reason: string | null,
  { isGone = false, note }: { isGone?: boolean; note?: string } = {},
): Promise<void> {
  const record = { changeSet: set }
  const put = () => putHashedJson(store.objects, (hash) => objectKeys.attempt(store.project, hash), record)
  const recordHash = isGone ? sha256(newRunId(Date.now())) : await put()
  const { last } = await test.ledger.readDecisions(root)
  const { operationId, node, bundle: agent } = operation
  const where = { runId, operationId, recordHash, node, agent }
  const decision = { changeSetId: set.changeSetId, verdict: 'rejected', before: 'pending', reason, ...where } as const
  await test.ledger.decide(root, { last, decisions: [{ ...decision, ...(note && { note }) }], by })
}

type Told = Parameters<ReturnType<typeof openReviewFeedback>>[0]

function told(runId: RunId, maxTokens = 400, over: Partial<Told> = {}): Promise<string> {
  const feedbackOn = openReviewFeedback({ ledger: test.ledger, objects: store.objects })
  const { operationId } = operation
  return feedbackOn({ runId, projectId: store.project, operationId, repeats: null, ...over }, maxTokens)
}

describe('what an agent is told of a rejection', () => {
  it('is what was said and the change that it was said of', async () => {
    const set = docstring('"""Do it."""\n')
    const former = await runThat(set)
    await reject(former, former, set, 'Say what it does.')
    const text = await told(await runThat(undefined, former))
    expect(text).toContain('- Say what it does.\n')
    expect(text).toContain('```\n"""Do it."""\n```')
  })

  it('is nothing where a change was rejected with another one without a word, and with a word both', async () => {
    const set = docstring('"""It does so."""\n')
    const former = await runThat(set)
    const note = 'built on lint a.py f c1, which was rejected'
    await reject(former, former, set, null, { note })
    const retry = await runThat(undefined, former)
    expect(await told(retry)).toBe('')
    await reject(former, former, set, 'The fix was wrong.', { note })
    expect(await told(retry)).toContain(`- ${note}: The fix was wrong.\n`)
  })

  it('is nothing where nobody has said anything', async () => {
    const former = await runThat(docstring('"""It does."""\n'))
    expect(await told(await runThat(undefined, former))).toBe('')
  })

  it('is never without what was said, however long the change is', async () => {
    const set = docstring(`"""${'word '.repeat(2_000)}"""\n`)
    const former = await runThat(set)
    const reason = `${'why '.repeat(200)}at last.`
    await reject(former, former, set, reason)
    const text = await told(await runThat(undefined, former), 200)
    expect(text).toContain(reason)
    expect(text.length).toBeLessThan(1_600)
  })

  it('is what was said alone where the change is gone', async () => {
    const set = docstring('"""Gone."""\n')
    const former = await runThat(set)
    await reject(former, former, set, 'No.', { isGone: true })
    expect(await told(await runThat(undefined, former))).toMatch(/\n- No\.$/)
  })

  it('is not what was said in another retry of the same run', async () => {
    const former = await runThat(docstring('"""First."""\n'))
    const second = docstring('"""Second."""\n')
    const sibling = await runThat(second, former)
    await reject(former, sibling, second, 'Not here.')
    expect(await told(await runThat(undefined, former))).toBe('')
    expect(await told(await runThat(undefined, sibling))).toContain('Not here.')
  })

  it('is told once more where its retry collides and runs again on top of what it collided with', async () => {
    const set = docstring('"""Do it."""\n')
    const former = await runThat(set)
    await reject(former, former, set, 'Say what it does.')
    const retry = await runThat(docstring('"""Does it."""\n'), former)
    const { operationId } = operation
    const again = { operationId: repeatedOperationId(operationId), repeats: { operationId, changeSetIds: [] } }
    expect(await told(retry, 400, again)).toContain('- Say what it does.\n')
  })
})
