import { describe, expect, it } from 'vitest'
import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import { changeSetId, newRunId, sha256 } from '#domain/ids.ts'
import { aRequest } from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'
import { operationStatuses } from '#domain/operation.ts'
import { Run } from '#domain/run.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import type { ComposedFile, Composition } from '#store/objects/composition.ts'
import { putPart } from '#store/objects/patch-part.ts'
import { putComposition } from '#store/objects/stored-records.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openObjectAudit } from './verify-records.ts'
import { verifyCompositions } from './verify-composition.ts'

const store = useOpened(testObjects)

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

const snapshot = {
  find: (path: string) =>
    path === 'new.py' ? undefined : { path, hash: baseHash, size: base.length, executable: false },
}
const aPy = { path: 'a.py', baseHash, evidence: [] }
const others = files.slice(1)

function idsOf(...sets: ChangeSet[]): string[] {
  return sets.map((set) => set.changeSetId)
}

/** What is wrong with a composition of all six sets, which is stored first. */
async function faults(
  changed: Partial<Composition> = {},
  decided: string[] = [],
  more?: [sets: ChangeSet[], text: string],
): Promise<string[]> {
  const conflicts = [asConflict(rival)]
  const runId = newRunId(Date.now())
  const whole: Composition = { v: 1, runId, of: 'proposed', files, conflicts, ...changed }
  const blobs = openBlobStore(store.objects, { maxCacheBytes: 0 })
  await blobs.putMany(
    store.project,
    [base, '1\n2\n', 'x = 1\n', more?.[1] ?? ''].map((text) => Buffer.from(text)),
  )
  const compositionKey = await putComposition(store.objects, { projectId: store.project, runId: whole.runId }, whole)
  const run = endedRun({ runId: whole.runId, compositionKey })
  const audit = openObjectAudit()
  const all = [first, second, rival, created, twin, removed, ...(more?.[0] ?? [])]
  const sets = new Map(all.map((set) => [set.changeSetId, set]))
  await verifyCompositions(run, {
    objects: store.objects,
    blobs,
    snapshot,
    sets,
    decided: new Set(decided),
    replaced: new Set(),
    madeIn: new Map(),
    audit,
  })
  return audit.violations.map(({ message }) => message)
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

  it('has what a set replaces of those that it is built on once, and no set without these', async () => {
    const upon = { ...setOf('upon', edit(4, '2 and more')), builtOn: idsOf(second) }
    const text = '1\n2 and more\n'
    const together = { ...aPy, resultHash: sha256(text), changeSetIds: idsOf(first, second, upon) }
    expect(await faults({ files: [together, ...others] }, [], [[upon], text])).toEqual([])
    const alone = { ...together, changeSetIds: idsOf(first, upon) }
    expect(await faults({ files: [alone, ...others] }, idsOf(second), [[upon], text])).toEqual([
      `composition: ${upon.changeSetId} is in it without ${second.changeSetId}, which it is built on`,
    ])
    const onAnother = { ...upon, builtOn: idsOf(first) }
    expect(await faults({ files: [together, ...others] }, [], [[onAnother], text])).toEqual([
      'composed file a.py: its change sets do not compose',
    ])
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

  it('of a part has nothing else than the list of the part', async () => {
    const runId = newRunId(Date.now())
    const place = { projectId: store.project, runId }
    const accepted: Composition = { v: 1, runId, of: 'accepted', files: files.slice(2), conflicts: [asConflict(rival)] }
    const blobs = openBlobStore(store.objects, { maxCacheBytes: 0 })
    await blobs.put(store.project, Buffer.from(base))
    const about = async (listed: string[], composed: Partial<Composition>) => {
      const part = await putPart(store.objects, place, { changeSetIds: listed })
      const compositionKey = await putComposition(
        store.objects,
        { projectId: store.project, runId: accepted.runId },
        { ...accepted, part, ...composed },
      )
      const run: Run = { ...endedRun({ runId, compositionKey }), parts: [{ part, decided: 1, compositionKey }] }
      const audit = openObjectAudit()
      const sets = new Map([removed, rival].map((set) => [set.changeSetId, set]))
      const all = { objects: store.objects, blobs, snapshot, sets, audit, decided: new Set(sets.keys()) }
      await verifyCompositions(run, { ...all, madeIn: new Map(), replaced: new Set() })
      return new Set(audit.violations.map(({ message }) => message))
    }
    expect(await about(idsOf(removed, rival), {})).toEqual(new Set())
    expect(await about(idsOf(removed), {})).toEqual(
      new Set([expect.stringMatching(`^part \\w+: ${rival.changeSetId} is not in its list$`)]),
    )
    expect(await about(idsOf(removed, rival), { part: 'f'.repeat(64) })).toEqual(
      new Set([expect.stringMatching(/^composition: it is of part f+, the run says/)]),
    )
  })

  it('is missed when a completed run names none', async () => {
    const audit = openObjectAudit()
    const deps = { objects: store.objects, blobs: openBlobStore(store.objects, { maxCacheBytes: 0 }), audit }
    const run = endedRun({ runId: 'r00000000', compositionKey: null })
    await verifyCompositions(run, {
      ...deps,
      snapshot,
      sets: new Map(),
      decided: new Set(),
      replaced: new Set(),
      madeIn: new Map(),
    })
    expect(audit.violations).toMatchObject([{ invariant: 7, message: 'the run is completed and names no composition' }])
  })
})

function withFile(at: number, over: Partial<ComposedFile>): ComposedFile[] {
  return files.map((file, index) => (index === at ? { ...file, ...over } : file))
}

function asConflict({ changeSetId: id, operationId }: ChangeSet): Composition['conflicts'][number] {
  return { changeSetId: id, operationId, path: 'a.py', errorCode: 'WORK_001', reason: 'overlap' }
}
