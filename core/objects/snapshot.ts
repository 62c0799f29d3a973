import { z } from 'zod'
import { SkippedFile } from '#domain/code-node.ts'

/** One name of a folder. A link keeps its target as text and is never followed. */
export const TreeEntry = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('file'),
    name: z.string(),
    hash: z.string(),
    size: z.int().min(0),
    executable: z.boolean(),
  }),
  z.strictObject({ type: z.literal('link'), name: z.string(), target: z.string() }),
  z.strictObject({ type: z.literal('folder'), name: z.string(), hash: z.string() }),
])
export type TreeEntry = z.infer<typeof TreeEntry>

/** One folder of a snapshot, stored under the hash of its JSON. Entries are sorted by name (UTF-16 units). */
export const Tree = z.strictObject({ v: z.literal(1), entries: z.array(TreeEntry) })
export type Tree = z.infer<typeof Tree>

/**
 * Immutable copy of a repository's files. Its id is the hash of this object's JSON, so the same files, with the same ones
 * passed over, have the same id whatever archive they came in. `skipped` is sorted by path.
 */
export const Snapshot = z.strictObject({
  v: z.literal(1),
  root: z.string(),
  files: z.int().min(0),
  bytes: z.int().min(0),
  skipped: z.array(SkippedFile),
})
export type Snapshot = z.infer<typeof Snapshot>
