import { z } from 'zod'
import { Conflict, LineRange, type ConflictingSet } from './composition.ts'

/** A change set of a conflict as other programs read it. What a composition of an earlier version does not say is absent. */
export const ConflictingSetView = z.strictObject({
  change_set_id: z.string(),
  operation_id: z.string(),
  agent: z.string().optional(),
  node: z.strictObject({ path: z.string(), qualified_name: z.string() }).optional(),
  lines: LineRange.optional(),
})
export type ConflictingSetView = z.infer<typeof ConflictingSetView>

/** A change set that was left out of the patch: in the event `run.composed`, in a run and with the change set itself. */
export const ConflictView = z.strictObject({
  ...ConflictingSetView.shape,
  path: z.string(),
  error_code: Conflict.shape.errorCode,
  reason: z.string(),
  with: ConflictingSetView.optional(),
})
export type ConflictView = z.infer<typeof ConflictView>

export function conflictView(conflict: Conflict): ConflictView {
  const { path, errorCode, reason, with: other } = conflict
  return {
    ...setView(conflict),
    path,
    error_code: errorCode,
    reason,
    ...(other === undefined ? {} : { with: setView(other) }),
  }
}

function setView({ changeSetId, operationId, agent, node, lines }: ConflictingSet): ConflictingSetView {
  return {
    change_set_id: changeSetId,
    operation_id: operationId,
    ...(agent === undefined ? {} : { agent }),
    ...(node === undefined ? {} : { node: { path: node.path, qualified_name: node.qualifiedName } }),
    ...(lines === undefined ? {} : { lines }),
  }
}
