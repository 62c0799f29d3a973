import type { ChangeSet } from '#domain/change-set.ts'
import type { Run } from '#domain/run.ts'
import type { BlobStore } from '#store/objects/blob-store.ts'
import type { Composition } from '#store/objects/composition.ts'
import type { SnapshotPrograms } from '#stages/operate/tools/programs/attempt-programs.ts'
import { type GateDeps, type GateMemory, type GateVerdict, runGate } from './run-gate.ts'

export type ThroughGateDeps = Pick<GateDeps, 'onRun'> & {
  programs: SnapshotPrograms
  blobs: Pick<BlobStore, 'get'>
}

type Composed = { sets: readonly ChangeSet[]; composition: Composition; memory: GateMemory; limitS?: number }

type Conflicts = Composition['conflicts']

export type Gated = GateVerdict & {
  /** Lists what collided before the gate, and so was not tested. It stays out, even if the gate leaves out the other set. */
  collided: Conflicts
}

/** Returns what the gate leaves of the sets that can be together; undefined without a gate, or where nothing is to be tested. */
export async function throughGate(
  { projectId, snapshotId, request, environment }: Run,
  { sets, composition, memory, limitS = Infinity }: Composed,
  { programs, blobs, onRun }: ThroughGateDeps,
  signal: AbortSignal,
): Promise<Gated | undefined> {
  if (request.verify === undefined || snapshotId === null) return undefined
  const out = new Set(composition.conflicts.map(({ changeSetId }) => changeSetId))
  const together = sets.filter(({ changeSetId }) => !out.has(changeSetId))
  if (together.length === 0) return undefined
  const { find } = await programs.snapshot(projectId, snapshotId)
  const verdict = await runGate(
    { ...request.verify, limitS: Math.min(request.verify.limitS, programs.gateLimitS, limitS) },
    together,
    {
      ...programs,
      archive: () => programs.archive(projectId, snapshotId),
      surroundings: () => programs.environment(projectId, environment),
      isExecutable: (path) => find(path)?.executable ?? false,
      readBlob: (hash) => blobs.get(projectId, hash),
      memory,
      onRun,
    },
    signal,
  )
  const gone = new Set(verdict.leftOut.map(({ changeSetId }) => changeSetId))
  const collided = composition.conflicts.filter(({ errorCode }) => errorCode !== 'WORK_007')
  return { ...verdict, collided: withReasons(collided, (id) => gone.has(id)) }
}

/** Gives a set that collided with one that is out now another reason: nothing has tested it. */
export function withReasons(collided: Conflicts, isOut: (changeSetId: string) => boolean): Conflicts {
  return collided.map((conflict) => {
    if (conflict.with === undefined || !isOut(conflict.with.changeSetId)) return conflict
    const reason = 'not proved: no test has seen it without the change that it collides with, which is left out'
    return { ...conflict, errorCode: 'WORK_007', reason }
  })
}
