import type { KnownSets, LeftOutSet } from '#change-sets/compose-change-sets.ts'
import { nameConflicts } from '#change-sets/name-conflicts.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { Run, WantedPatch } from '#domain/run.ts'
import type { BlobStore } from '#store/objects/blob-store.ts'
import type { Composition } from '#store/objects/composition.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { putComposition } from '#store/objects/stored-records.ts'
import type { CachedAnswers } from '#platform/cached-answers.ts'
import type { ReadRunRules } from '#stages/operate/evidence/run-rules.ts'
import type { ReadFile } from '#stages/operate/evidence/python-facts.ts'
import type { SnapshotPrograms } from '#stages/operate/tools/programs/attempt-programs.ts'
import { type ProvedBefore, readComposed } from './file-proofs.ts'
import type { Gated } from './gate/through-gate.ts'
import { openJoinedTests } from './run-joined-tests.ts'
import { type GroupProof, knownOf, proveComposition, type ProofDeps } from './prove-composition.ts'

export type ProveDeps = Pick<ProofDeps, 'evidence' | 'python'> & {
  /** Keeps proofs from one composition to the next. */
  proofs?: CachedAnswers<GroupProof>
  objects: ObjectStore
  blobs: Pick<BlobStore, 'get' | 'put'>
  runRules: ReadRunRules
  /** Serves checks that read other files than the changed one, and those that run tests. */
  programs?: SnapshotPrograms
}

/** Says what is to be composed, and finds the node of each operation that may be named. */
export type SelectedSets = WantedPatch & {
  sets: readonly ChangeSet[]
  nodeOf(operationId: string): Promise<CodeNode | undefined>
  /** Change sets that may be named besides: those on which some of `sets` are built. */
  others?: KnownSets | undefined
  /** Returns what other compositions of the run have proved. */
  provedBefore?: ProvedBefore | undefined
  /** Sets that are not to be composed, since the run's gate left them out, or has not seen them, and what it found. */
  gated?: Pick<Gated, 'leftOut' | 'collided' | 'report'> | undefined
  /** Returns what the composition keeps of all that was made, by what it leaves out. */
  madeOf?(conflicts: Composition['conflicts']): Pick<Composition, 'made' | 'keptOfItems'>
  /** Is told how many of the changed files are proved, of how many. */
  onFiles?(proved: number, files: number): Promise<void>
}

function treeOf(
  { projectId, snapshotId }: Run,
  { readBlob, sets, others }: Pick<SelectedSets, 'sets' | 'others'> & Pick<ProofDeps, 'readBlob'>,
  { programs }: ProveDeps,
): ReadFile | undefined {
  if (programs === undefined || snapshotId === null) return undefined
  const known = knownOf({ others }, sets)
  return readComposed(sets, { known, readBlob, snapshot: () => programs.snapshot(projectId, snapshotId) })
}

/** Composes and proves change sets of a run, and stores the result, which the key names. */
export async function proveSets(
  run: Run,
  { of, part, sets, nodeOf, others, onFiles, provedBefore, gated, madeOf }: SelectedSets,
  deps: ProveDeps,
  signal: AbortSignal,
): Promise<{ composition: Composition; compositionKey: string }> {
  const { projectId, runId } = run
  const { proofs } = deps
  const files = new Set(sets.flatMap((set) => set.files.map(({ path }) => path))).size
  let proved = 0
  await onFiles?.(0, files)
  const readBlob = async (hash: string) => {
    signal.throwIfAborted() // another worker may have the job by now, or the run be stopped
    return deps.blobs.get(projectId, hash)
  }
  const known = knownOf({ others }, sets)
  const { programs } = deps
  const proven = await proveComposition(sets, {
    evidence: deps.evidence,
    python: deps.python,
    proofs: proofs && ((key, make) => proofs.get(`${projectId} ${run.rulesKey} ${key}`, make)),
    rules: await deps.runRules(run),
    provedBefore,
    runTests: programs && openJoinedTests(run, { programs, known, readBlob, signal }),
    others,
    readBlob,
    readFileOf: (own) => treeOf(run, { sets: own, others, readBlob }, deps),
    async storeBlob(bytes) {
      signal.throwIfAborted()
      return deps.blobs.put(projectId, bytes)
    },
    onFiles: async (count) => onFiles?.((proved += count), files),
  })
  const leftOut = [...proven.conflicts, ...(gated?.leftOut ?? [])]
  const named = await nameConflicts(leftOut, {
    sets: known,
    nodes: await nodesOf(leftOut, nodeOf),
    readBlob: (hash) => deps.blobs.get(projectId, hash),
  })
  const conflicts = [...named, ...(gated?.collided ?? [])]
  const gate = gated?.report
  const kept = { ...madeOf?.(conflicts), ...(gate && { gate }) }
  const { generation } = run
  const what = { of, ...(generation > 1 && { generation }), ...(part && { part }) }
  const composition: Composition = { v: 1, runId, ...what, files: proven.files, conflicts, ...kept }
  return { composition, compositionKey: await putComposition(deps.objects, { projectId, runId }, composition) }
}

async function nodesOf(
  leftOut: readonly LeftOutSet[],
  nodeOf: SelectedSets['nodeOf'],
): Promise<ReadonlyMap<string, CodeNode>> {
  const nodes = new Map<string, CodeNode>()
  for (const { operationId, with: against } of leftOut) {
    for (const id of [operationId, against?.operationId]) {
      const node = id === undefined || nodes.has(id) ? undefined : await nodeOf(id)
      if (id !== undefined && node !== undefined) nodes.set(id, node)
    }
  }
  return nodes
}
