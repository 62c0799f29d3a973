import type { Conflict, ConflictingSet, LineRange } from './composition.ts'

/** A change set of a conflict as other programs read it. What a composition of an earlier version does not say is absent. */
export type ConflictingSetView = {
  change_set_id: string
  operation_id: string
  agent?: string
  node?: { path: string; qualified_name: string }
  lines?: LineRange
}

/** A change set that was left out of the patch: in the event `run.composed`, in a run and with the change set itself. */
export type ConflictView = ConflictingSetView & {
  path: string
  error_code: Conflict['errorCode']
  reason: string
  with?: ConflictingSetView
}

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
