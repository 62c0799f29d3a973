import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadBundles } from '#bundles/load-bundle.ts'
import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import { putBundle } from '#store/objects/stored-records.ts'
import { aPlannedOperation, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import { acceptByPolicy } from './accept-by-policy.ts'

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

type Given = { builtOn?: string[]; isProved?: boolean; file?: FileChange }

/** A set of lint with all the evidence that it needs, or without any. */
async function setOf(id: string, given: Given = {}) {
  const { builtOn, isProved = true, file = { kind: 'create', path: id, content: '' } } = given
  const bundle = (await loadBundles(new URL('../../agents', import.meta.url).pathname)).get('lint')?.bundle
  if (bundle === undefined) throw new Error('there is no bundle lint')
  const set: ChangeSet = {
    changeSetId: id,
    operationId: 'o0000000000000000',
    bundle: 'lint',
    nodeId: 'n0000000000000000',
    files: [file],
    ...(builtOn && { builtOn }),
    evidence: (isProved ? (bundle.file.accept_when ?? []) : []).map((check) => {
      return { check, path: file.path, ok: true, tool: 'test' }
    }),
  }
  return { set, bundle }
}

/** What is accepted in the end of a run that has made these sets, where a person has accepted `before`. */
async function acceptedOf(all: readonly Awaited<ReturnType<typeof setOf>>[], before: readonly string[] = []) {
  const runId = await test.executing([aPlannedOperation('f')], { accept: 'auto' })
  const [planned] = (await test.ledger.listOperations(runId, { limit: 1 })).operations
  if (planned === undefined) throw new Error('nothing was planned')
  const place = { operation: planned, recordHash: 'r', isRedone: false }
  const bundleHashes = await Promise.all(
    all.slice(0, 1).map(({ bundle }) => putBundle(store.objects, store.project, bundle)),
  )
  const run = { ...(await test.ledger.getRun(runId)), projectId: store.project, bundleHashes }
  const said = { verdict: 'accepted', before: 'pending', reason: null, agent: 'lint', recordHash: 'r' } as const
  const byHand = before.map((changeSetId) => ({ changeSetId, ...said, ...planned }))
  await test.ledger.decide(runId, { last: 0, by: { kind: 'human', id: 't' }, decisions: byHand })
  const composed = {
    selected: all.map(({ set }) => ({ set, ...place })),
    composition: { v: 1 as const, runId, of: 'proposed' as const, files: [], conflicts: [] },
    decisions: await test.ledger.readDecisions(runId),
    root: run,
  }
  expect(await acceptByPolicy(run, composed, { ledger: test.ledger, objects: store.objects })).toBe(true)
  expect((await test.ledger.verify(runId)).violations).toEqual([])
  return [...(await test.ledger.readDecisions(runId)).byChangeSet.keys()]
}

it('accepts what is built on others only if these are accepted, with it or before, and these first', async () => {
  const all = [
    await setOf('c5', { builtOn: ['c1', 'c3', 'c4'] }),
    await setOf('c2', { builtOn: ['c1'] }),
    await setOf('c1'),
    await setOf('c3', { isProved: false }),
    await setOf('c4', { builtOn: ['c3'] }),
    await setOf('c6', { builtOn: ['c0'] }),
  ]
  expect(await acceptedOf(all, ['c0'])).toEqual(['c0', 'c1', 'c2', 'c6'])
})

it('leaves to people what no check proves: files that are deleted, and modes of files', async () => {
  const edits = [{ start: 0, end: 1, text: '' }]
  const all = [
    await setOf('c1', { file: { kind: 'delete', path: 'a.py', baseHash: 'h' } }),
    await setOf('c2', { file: { kind: 'edit', path: 'b.py', baseHash: 'h', edits, executable: true } }),
    await setOf('c3', { file: { kind: 'edit', path: 'c.py', baseHash: 'h', edits, executable: false } }),
    await setOf('c4', { file: { kind: 'create', path: 'd.py', content: '', executable: true } }),
    await setOf('c5', { file: { kind: 'edit', path: 'e.py', baseHash: 'h', edits } }),
  ]
  expect(await acceptedOf(all)).toEqual(['c5'])
})
