import { hash, randomBytes } from 'node:crypto'
import type { ChangeSet, FileChange } from './change-set.ts'
import type { NodeId, OperationId, ProjectId, RunId } from './id-schemas.ts'

export { NodeId, OperationId, ProjectId, RunId } from './id-schemas.ts'

/** The project that is always there: of the operator, and of all that was stored before others could be created. */
export const defaultProject: ProjectId = 'default'

/** A new run's id: the time in milliseconds and 40 random bits, base 36, so ids sort by time. */
export function newRunId(nowMs: number): RunId {
  const random = Array.from(randomBytes(8), (byte) => (byte % 36).toString(36)).join('')
  return `r${nowMs.toString(36).padStart(9, '0')}${random}`
}

/** The fencing token of a delivery: 96 random bits, compared for equality only. */
export function newToken(): string {
  return randomBytes(12).toString('base64url')
}

export type NodeIdentity = { path: string; kind: string; qualifiedName: string; ordinal: number }

/** The same node has the same id on every machine and over runs: no line numbers, no absolute path. */
export function nodeId({ path, kind, qualifiedName, ordinal }: NodeIdentity): NodeId {
  return `n${sha256(`${path}\0${kind}\0${qualifiedName}\0${ordinal}`).slice(0, 16)}`
}

/** Identifies one bundle × one node and the kind of work: unique within a run, the same when planning is repeated. */
export function operationId(node: NodeId, bundle: string, work: 'agent' | 'mechanical' = 'agent'): OperationId {
  const parts = work === 'agent' ? [node, bundle] : [node, bundle, work]
  return `o${sha256(parts.join('\0')).slice(0, 16)}`
}

/** Returns the id of the record of an operation that does its work once more, in this generation of its run. */
export function recordId(original: OperationId, generation: number): OperationId {
  return `o${sha256(`${original}\0${generation}`).slice(0, 16)}`
}

/** Returns the ids that the records of an operation may have up to this generation, in their order: there may be none of most of them. */
export function recordIds(original: OperationId, generation: number): OperationId[] {
  const later = Array.from({ length: Math.max(0, generation - 1) }, (_, at) => recordId(original, at + 2))
  return [original, ...later]
}

/** Gives the same change by the same operation, built on the same sets, the same id. With another base it is another set. */
export function changeSetId(
  operation: OperationId,
  files: readonly FileChange[],
  builtOn: ChangeSet['builtOn'] = [],
): string {
  const bases = builtOn.length === 0 ? '' : `\0${builtOn.toSorted().join(' ')}`
  return `c${sha256(`${operation}\0${JSON.stringify(files)}${bases}`).slice(0, 16)}`
}

/** Lower-case hex SHA-256, the name of every content-addressed object. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex')
}
