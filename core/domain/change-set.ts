import { z } from 'zod'
import { Evidence } from '#domain/evidence.ts'
import { sha256 } from '#domain/hash.ts'
import { NodeId, OperationId } from '#domain/ids.ts'
import { RepoPath } from '#domain/repo-path.ts'

/** Replaces bytes `start` (inclusive) to `end` (exclusive) of the base blob with `text` (UTF-8). */
export const Edit = z.strictObject({ start: z.int().min(0), end: z.int().min(0), text: z.string() })
export type Edit = z.infer<typeof Edit>

/** What a change set does to one file. Edits are sorted, disjoint, and always relative to the base blob. */
export const FileChange = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('edit'), path: RepoPath, baseHash: z.string(), edits: z.array(Edit).min(1) }),
  z.strictObject({ kind: z.literal('create'), path: RepoPath, content: z.string() }),
  z.strictObject({ kind: z.literal('delete'), path: RepoPath, baseHash: z.string() }),
])
export type FileChange = z.infer<typeof FileChange>

export const ChangeSet = z.strictObject({
  changeSetId: z.string(),
  operationId: OperationId,
  bundle: z.string(),
  nodeId: NodeId,
  files: z.array(FileChange).min(1),
  /** The lint rules whose safe fixes it makes, of a mechanical operation. */
  rules: z.array(z.string()).optional(),
  evidence: z.array(Evidence),
})
export type ChangeSet = z.infer<typeof ChangeSet>

/** The same operation making the same change names the same set. */
export function changeSetId(operation: OperationId, files: readonly FileChange[]): string {
  return `c${sha256(`${operation}\0${JSON.stringify(files)}`).slice(0, 16)}`
}
