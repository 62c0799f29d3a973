import { z } from 'zod'
import { Evidence, LineRange } from '#domain/change-set.ts'
import { GateReport } from '#domain/gate.ts'
import { ItemId } from '#domain/id-schemas.ts'
import { PartId } from '#domain/patch-note.ts'
import { PatchKind } from '#domain/run.ts'

/** `inPart` says that only some of the file's change sets were asked for the check, and it is about what these have done. */
export const ComposedEvidence = Evidence.extend({ inPart: z.literal(true).optional() })
export type ComposedEvidence = z.infer<typeof ComposedEvidence>

export const ComposedFile = z.strictObject({
  path: z.string(),
  /** Is null when the file is new. */
  baseHash: z.string().nullable(),
  /** Is null when the file is deleted. */
  resultHash: z.string().nullable(),
  /** Is set for a new file that has the bit, a deleted one that had it, or one that gets or loses it. */
  executable: z.boolean().optional(),
  changeSetIds: z.array(z.string()),
  evidence: z.array(ComposedEvidence),
})
export type ComposedFile = z.infer<typeof ComposedFile>

const ConflictingSet = z.strictObject({
  changeSetId: z.string(),
  operationId: z.string(),
  agent: z.string().optional(),
  node: z.strictObject({ path: z.string(), qualifiedName: z.string() }).optional(),
  /** The lines of the file at `path` that the conflict is about; absent when the file is new or deleted. */
  lines: LineRange.optional(),
  /** Holds what the set makes of these lines, or of the new file; the first 4,000 characters. */
  text: z.string().optional(),
})
export type ConflictingSet = z.infer<typeof ConflictingSet>

export const Conflict = z.strictObject({
  ...ConflictingSet.shape,
  path: z.string(),
  errorCode: z.enum(['WORK_001', 'WORK_002', 'WORK_004', 'WORK_007']),
  reason: z.string(),
  /** The change set it cannot be in one patch with; absent when there is no single one. */
  with: ConflictingSet.optional(),
  /** It fails without any other but those that it is built on: it was tried so. */
  byItself: z.literal(true).optional(),
})
export type Conflict = z.infer<typeof Conflict>

/**
 * Holds an agent's change sets of all generations. `failed`: operations of which a change did not pass. `left out`: it gave way
 * to another one. `broken`: it breaks a file, or was accepted and is left out. `made again`: by a retry, or since it collided.
 * `proved`: every check has passed.
 */
const MadeSets = z.strictObject({
  agent: z.string(),
  failed: z.int(),
  sets: z.array(
    z.strictObject({
      id: z.string(),
      place: z.enum(['sound', 'left out', 'broken', 'made again']),
      proved: z.boolean(),
    }),
  ),
})
export type MadeSets = z.infer<typeof MadeSets>

/** Is the combined result of a run's change sets. It is stored before the run ends; the API builds the patch from it. */
export const Composition = z.strictObject({
  v: z.literal(1),
  runId: z.string(),
  of: PatchKind,
  /** The generation of the run that it is of; absent in the first. */
  generation: z.int().min(2).optional(),
  /** Names the part, where only a part of what was accepted is composed. */
  part: PartId.optional(),
  files: z.array(ComposedFile),
  conflicts: z.array(Conflict),
  /** Is there in the composition with which a run ends, and absent in patches that are composed later. */
  made: z.array(MadeSets).optional(),
  /** Counts, by item of the agenda, the change sets of it that are in the patch; there, where the run has an objective. */
  keptOfItems: z.record(ItemId, z.int().min(1)).optional(),
  /** Is there in the same, where the run has a gate. */
  gate: GateReport.optional(),
})
export type Composition = z.infer<typeof Composition>

/** Returns the files that differ from the base, also those of which only the executable bit does. */
export function changedFiles({ files }: { files: readonly ComposedFile[] }): ComposedFile[] {
  return files.filter(({ baseHash, resultHash, executable }) => baseHash !== resultHash || executable !== undefined)
}

export function withoutTexts({ text: _text, with: other, ...conflict }: Conflict): Conflict {
  if (other === undefined) return conflict
  const { text: _other, ...same } = other
  return { ...conflict, with: same }
}

/** Shows a change set that was left out of the patch: in the event `run.composed`, in a run and with the change set itself. */
export function conflictView(conflict: Conflict) {
  const { path, errorCode, reason, with: other, byItself } = conflict
  return {
    ...setView(conflict),
    path,
    error_code: errorCode,
    reason,
    ...(other === undefined ? {} : { with: setView(other) }),
    ...(byItself === undefined ? {} : { by_itself: byItself }),
  }
}

function setView({ changeSetId, operationId, agent, node, lines, text }: ConflictingSet) {
  return {
    change_set_id: changeSetId,
    operation_id: operationId,
    ...(agent === undefined ? {} : { agent }),
    ...(node === undefined ? {} : { node: { path: node.path, qualified_name: node.qualifiedName } }),
    ...(lines === undefined ? {} : { lines }),
    ...(text === undefined ? {} : { text }),
  }
}
