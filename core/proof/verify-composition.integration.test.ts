import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changeSetId, type ChangeSet, type FileChange } from '#domain/change-set.ts'
import { newRunId, sha256 } from '#domain/ids.ts'
import { aRequest } from '#testing/open-test-ledger.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import { operationStatuses } from '#domain/operation.ts'
import { Run } from '#domain/run.ts'
import { openBlobStore } from '#objects/blob-store.ts'
import type { ComposedFile, Composition } from '#objects/composition.ts'
import { putComposition } from '#objects/stored-records.ts'
import { openFindings } from './verify-records.ts'
import { verifyCompositions } from './verify-composition.ts'

let store: TestObjects
beforeAll(async () => {
  store = await testObjects()
})
afterAll(() => store.close())

const base = 'one\ntwo\n'
const baseHash = sha256(base)

function setOf(bundle: string, file: FileChange): ChangeSet {
  const operationId = `o${sha256(bundle).slice(0, 16)}`
  const id = changeSetId(operationId, [file])
  return { changeSetId: id, operationId, bundle, nodeId: 'n0000000000000000', files: [file], evidence: [] }
}

const edit = (start: number, text: string): FileChange => {
  return { kind: 'edit', path: 'a.py', baseHash, edits: [{ start, end: start + 3, text }] }
}
const first = setOf('first', edit(0, '1'))
const second = setOf('second', edit(4, '2'))
const rival = setOf('rival', edit(4, '3'))
const created = setOf('created', { kind: 'create', path: 'new.py', content: 'x = 1\n' })
const twin = setOf('twin', { kind: 'create', path: 'new.py', content: 'x = 1\n' })
const removed = setOf('removed', { kind: 'delete', path: 'old.py', baseHash })

const files: ComposedFile[] = [
  { path: 'a.py', baseHash, resultHash: sha256('1\n2\n'), changeSetIds: idsOf(first, second), evidence: [] },
  { path: 'new.py', baseHash: null, resultHash: sha256('x = 1\n'), changeSetIds: idsOf(created, twin), evidence: [] },
  { path: 'old.py', baseHash, resultHash: null, changeSetIds: idsOf(removed), evidence: [] },
]

function idsOf(...sets: ChangeSet[]): string[] {
  return sets.map((set) => set.changeSetId)
}

/** What is wrong with a composition of all six sets, which is stored first. */
async function faults(changed: Partial<Composition> = {}, decided: string[] = []): Promise<string[]> {
  const conflicts = [asConflict(rival)]
  const runId = newRunId(Date.now())
  const whole: Composition = { v: 1, runId, of: 'proposed', files, conflicts, ...changed }
  const blobs = openBlobStore(store.objects, { maxCacheBytes: 0 })
  await blobs.putMany(
    store.project,
    [base, '1\n2\n', 'x = 1\n'].map((text) => Buffer.from(text)),
  )
  const compositionKey = await putComposition(store.objects, store.project, whole)
  const run = endedRun({ runId: whole.runId, compositionKey })
  const findings = openFindings()
  const sets = new Map([first, second, rival, created, twin, removed].map((set) => [set.changeSetId, set]))
  await verifyCompositions(run, { objects: store.objects, blobs, sets, decided: new Set(decided), findings })
  return findings.violations.map(({ message }) => message)
}

function endedRun(over: { runId: string; compositionKey: string | null }): Run {
  const counts = Object.fromEntries(operationStatuses.map((status) => [status, 0]))
  const nothing = {
    nodeListKey: null,
    edgeListKey: null,
    rulesKey: null,
    planKey: null,
    planHash: null,
    isPlanned: true,
    bundleHashes: null,
    stop: null,
    traceparent: null,
    errorCode: null,
    reason: null,
  }
  const figures = { schema: 1, seq: 1, nodes: 1, files: 1, acceptedAt: 1, endedAt: 2, counts }
  const state = { projectId: store.project, status: 'completed', phase: 'review', request: aRequest() }
  return Run.parse({ ...nothing, ...figures, ...state, uploadKey: 'u', snapshotId: 's', ...over })
}

describe('a stored composition', () => {
  it('is what its change sets come to: edits, a file made by two, one deleted, one set left out', async () => {
    expect(await faults()).toEqual([])
  })

  it('may lack a set as a whole that somebody has decided on', async () => {
    const lacking = { files: files.slice(0, 2) }
    expect(await faults(lacking)).toEqual([expect.stringMatching(/is not in old\.py, and no conflict says why/)])
    expect(await faults(lacking, idsOf(removed))).toEqual([])
  })

  it('of accepted changes has none on which nobody has decided', async () => {
    const accepted: Partial<Composition> = { of: 'accepted', files: files.slice(2), conflicts: [] }
    expect(await faults(accepted, idsOf(removed))).toEqual([])
    expect(await faults(accepted)).toEqual([expect.stringMatching(/on which nobody has decided/)])
  })

  it.each<[string, () => Partial<Composition>, RegExp]>([
    [
      'is of another result',
      () => ({ files: withFile(0, { resultHash: sha256(base) }) }),
      /a\.py: its change sets come/,
    ],
    [
      'keeps a deleted file',
      () => ({ files: withFile(2, { resultHash: baseHash }) }),
      /old\.py: its change sets come to/,
    ],
    ['has another base', () => ({ files: withFile(0, { baseHash: sha256('') }) }), /a\.py: its base is not that of/],
    ['gives a file a mode', () => ({ files: withFile(0, { executable: true }) }), /a\.py: its mode is not that of its/],
    ['leaves out a set without a reason', () => ({ conflicts: [] }), /is not in a\.py, and no conflict says why/],
    [
      'has and leaves out one set',
      () => ({ conflicts: [first, rival].map(asConflict) }),
      /c\w+ is left out as a conflict and in a\.py/,
    ],
    [
      'names a set nobody made',
      () => ({ conflicts: [asConflict(rival), { ...asConflict(rival), changeSetId: 'c0' }] }),
      /it names c0, which no operation of the run made/,
    ],
    [
      'takes sets that do not compose',
      () => ({ files: withFile(0, { changeSetIds: idsOf(first, second, rival) }), conflicts: [] }),
      /a\.py: its change sets do not compose/,
    ],
  ])('is refused when it %s', async (_what, change, says) => {
    expect(await faults(change())).toEqual([expect.stringMatching(says)])
  })

  it('is missed when a completed run names none', async () => {
    const findings = openFindings()
    const deps = { objects: store.objects, blobs: openBlobStore(store.objects, { maxCacheBytes: 0 }), findings }
    const run = endedRun({ runId: 'r00000000', compositionKey: null })
    await verifyCompositions(run, { ...deps, sets: new Map(), decided: new Set() })
    expect(findings.violations).toMatchObject([
      { invariant: 7, message: 'the run is completed and names no composition' },
    ])
  })
})

function withFile(at: number, over: Partial<ComposedFile>): ComposedFile[] {
  return files.map((file, index) => (index === at ? { ...file, ...over } : file))
}

function asConflict({ changeSetId: id, operationId }: ChangeSet): Composition['conflicts'][number] {
  return { changeSetId: id, operationId, path: 'a.py', errorCode: 'WORK_001', reason: 'overlap' }
}
