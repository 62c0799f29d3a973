import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChangeSet } from '#domain/change-set.ts'
import { changeSetId, type RunId, sha256 } from '#domain/ids.ts'
import type { PlannedOperation, RepeatedWork } from '#domain/operation.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { putHashedJson } from '#store/objects/object-store.ts'
import { anOutcome, aPlannedOperation, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import { baseOver } from '../workspace/base-over.fixture.ts'
import { openStartLayers, type OpenStartLayer } from './start-layer.ts'

const path = 'a.py'
const source = 'one = 1\ntwo = 2\n'
const snapshot = baseOver({ [path]: source })
const first = aPlannedOperation('first')
const second = aPlannedOperation('second', {}, [first])

/** A change set of an operation that puts `text` in the place of the byte at `at`. */
function changing({ operationId, bundle, node }: PlannedOperation, at: number, text: string): ChangeSet {
  const edits = [{ start: at, end: at + 1, text }]
  const files = [{ kind: 'edit' as const, path, baseHash: sha256(source), edits }]
  return { changeSetId: changeSetId(operationId, files), operationId, bundle, nodeId: node.nodeId, files, evidence: [] }
}

describe('what an operation starts from', () => {
  let test: TestLedger
  let store: TestObjects
  let open: OpenStartLayer
  beforeAll(async () => {
    test = await testLedger()
    store = await testObjects()
    open = openStartLayers({ ledger: test.ledger, objects: store.objects })
  })
  afterAll(async () => {
    await test.close()
    await store.close()
  })

  const recordOf = (sets: readonly ChangeSet[]) =>
    putHashedJson(store.objects, (hash) => objectKeys.attempt(store.project, hash), {
      changeSet: null,
      changeSets: sets,
    })

  async function claimOne(runId: RunId): Promise<Attempt> {
    const [attempt] = await test.claimReady(runId)
    if (attempt === undefined) throw new Error('nothing was ready')
    return { ...attempt, projectId: store.project }
  }

  async function settle(attempt: Attempt, ...sets: ChangeSet[]): Promise<void> {
    const changeSetIds = sets.map((set) => set.changeSetId)
    const outcome = anOutcome(
      sets.length === 0 ? { status: 'unchanged' } : { changeSetIds, recordHash: await recordOf(sets) },
    )
    await test.ledger.settle(attempt, 1, { outcome, events: [] })
  }

  async function reject(runId: RunId, set: ChangeSet): Promise<void> {
    const { last } = await test.ledger.readDecisions(runId)
    const where = { operationId: set.operationId, recordHash: await recordOf([set]), agent: set.bundle }
    const verdict = { verdict: 'rejected', before: 'pending', reason: null } as const
    const decisions = [{ changeSetId: set.changeSetId, ...verdict, ...where, node: first.node }]
    await test.ledger.decide(runId, { last, decisions, by: { kind: 'human', id: 't1' } })
  }

  /** Lets `of` run once more, in a run whose operations have ended. */
  async function repeating(runId: RunId, of: PlannedOperation, over: Partial<RepeatedWork>, startsFrom: string[]) {
    const { operationId } = of
    const repeats = { operationId, supersedes: operationId, because: 'collided' as const, changeSetIds: [], ...over }
    await test.repeated(runId, [aPlannedOperation(of.node.name)], { startsFrom, repeats })
    return claimOne(runId)
  }

  const idsIn = async (attempt: Attempt) => (await open(attempt, snapshot))?.sets.map(({ changeSetId: id }) => id)

  it('is without what was rejected since the last one started, in the same generation and in a later one', async () => {
    const runId = await test.executing([first, second])
    const made = changing(first, 0, 'x')
    await settle(await claimOne(runId), made)
    const attempt = await claimOne(runId)
    expect(await idsIn(attempt)).toEqual([made.changeSetId])
    await reject(runId, made)
    expect(await idsIn(attempt)).toBeUndefined()

    await settle(attempt)
    await test.reopened(runId, [{ ...second, startsFrom: [first.operationId] }])
    expect(await idsIn(await claimOne(runId))).toBeUndefined()
  })

  it('is without what it does once more itself, also where that does not collide any more', async () => {
    const runId = await test.executing([first, second])
    const [collided, fine] = [changing(first, 0, 'x'), changing(first, 8, 'y')]
    await settle(await claimOne(runId), collided, fine)
    await settle(await claimOne(runId))
    const again = await repeating(runId, first, { changeSetIds: [collided.changeSetId] }, [first.operationId])
    expect(await idsIn(again)).toEqual([fine.changeSetId])
  })

  it('is without what was left out of the patch before it was planned, and without what is built on that', async () => {
    const runId = await test.executing([first, second])
    const [broken, fine] = [changing(first, 0, 'x'), changing(first, 8, 'y')]
    const upon = { ...changing(first, 4, 'z'), builtOn: [broken.changeSetId] }
    await settle(await claimOne(runId), broken, fine, upon)
    const lost = { ...changing(second, 2, 'w'), builtOn: [broken.changeSetId] }
    await settle(await claimOne(runId), lost)
    const over = { changeSetIds: [lost.changeSetId], without: [broken.changeSetId] }
    expect(await idsIn(await repeating(runId, second, over, [first.operationId]))).toEqual([fine.changeSetId])
  })
})
