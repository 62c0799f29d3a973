import { z } from 'zod'
import { EvidenceCheck, evidenceChecks } from './checks.ts'
import { NodeId, OperationId } from './id-schemas.ts'
import { RepoPath } from './repo-path.ts'
import { snakeKeys } from './wire-keys.ts'

/**
 * The result of one check on one file of a change set: the tool that made it, and its figures. Two states name in `of` the check that was
 * asked for: `not_checked` proves nothing, since it could not be made of this change; `not_applicable` asks for nothing, since the check
 * says nothing about files of that language.
 */
export const Evidence = z.strictObject({
  check: z.enum([...evidenceChecks, 'not_checked', 'not_applicable']),
  of: EvidenceCheck.optional(),
  path: z.string(),
  ok: z.boolean(),
  tool: z.string(),
  /** Is set for a tool whose name does not have it. */
  version: z.string().optional(),
  before: z.number().optional(),
  after: z.number().optional(),
  /** Measures the programs that were run for the check. */
  durationMs: z.int().min(0).optional(),
  detail: z.string().optional(),
})
export type Evidence = z.infer<typeof Evidence>

export function wireEvidence(evidence: Evidence) {
  return snakeKeys(evidence)
}

/** Replaces bytes `start` (inclusive) to `end` (exclusive) of the base blob with `text` (UTF-8). */
export const Edit = z.strictObject({ start: z.int().min(0), end: z.int().min(0), text: z.string() })
export type Edit = z.infer<typeof Edit>

/**
 * The change to one file. Edits are sorted, disjoint and relative to the base blob. `executable` is about the file's bit:
 * a created file has it, a deleted one had it, an edit sets it or takes it away. Absent, it is not set or stays as it is.
 */
export const FileChange = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('edit'),
      path: RepoPath,
      baseHash: z.string(),
      edits: z.array(Edit),
      executable: z.boolean().optional(),
    })
    .refine(({ edits, executable }) => edits.length > 0 || executable !== undefined, 'changes nothing'),
  z.strictObject({
    kind: z.literal('create'),
    path: RepoPath,
    content: z.string(),
    executable: z.boolean().optional(),
  }),
  z.strictObject({
    kind: z.literal('delete'),
    path: RepoPath,
    baseHash: z.string(),
    executable: z.boolean().optional(),
  }),
])
export type FileChange = z.infer<typeof FileChange>

export const ChangeSet = z.strictObject({
  changeSetId: z.string(),
  /** The first record of the work, whichever record made it: so the same change made again is the same set. */
  operationId: OperationId,
  bundle: z.string(),
  nodeId: NodeId,
  files: z.array(FileChange).min(1),
  /** Lists the lint rules whose safe fixes a mechanical operation applies. */
  rules: z.array(z.string()).optional(),
  /** The model that made it; absent where a program did. */
  model: z.string().optional(),
  /**
   * The change sets that it needs, with all that these need: they changed what its operation worked on. Its edits are relative
   * to the base blob all the same. An edit of such a set that lies within one of its own is replaced by that, which has its text.
   */
  builtOn: z.array(z.string()).min(1).optional(),
  evidence: z.array(Evidence),
})
export type ChangeSet = z.infer<typeof ChangeSet>

/** Tells whether the check was made, and so passed or failed. */
export function isMade({ check }: Pick<Evidence, 'check'>): boolean {
  return check !== 'not_checked' && check !== 'not_applicable'
}

/** Names the check that was asked for. */
export function checkOf({ check, of }: Pick<Evidence, 'check' | 'of'>): EvidenceCheck {
  if (of !== undefined) return of
  if (check === 'not_checked' || check === 'not_applicable') throw new TypeError(`${check} names no check`)
  return check
}

/** Sums up the evidence of a change set. A file is proved by at least one check; one that could not be made leaves the set unchecked. */
export const ProofState = z.enum(['passed', 'failed', 'unchecked'])
export type ProofState = z.infer<typeof ProofState>

export function proofOf({ evidence }: Pick<ChangeSet, 'evidence'>): ProofState {
  if (evidence.some(({ ok }) => !ok)) return 'failed'
  const proved = new Set(evidence.filter(isMade).map(({ path }) => path))
  const isUnproved = ({ check, path }: Evidence) => check === 'not_checked' || !proved.has(path)
  return evidence.length === 0 || evidence.some(isUnproved) ? 'unchecked' : 'passed'
}

/** Lines of a file before the run, from 1, both included. */
export const LineRange = z.strictObject({ first: z.int().min(1), last: z.int().min(1) })
export type LineRange = z.infer<typeof LineRange>

export const ChangeSetId = z.string().regex(/^c[0-9a-f]{16}$/)

/** Applies edits to `base`. They must be sorted, disjoint and within it, as those of a change set are. */
export function applyEdits(base: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const parts: Uint8Array[] = []
  let at = 0
  for (const edit of edits) {
    parts.push(base.subarray(at, edit.start), Buffer.from(edit.text))
    at = edit.end
  }
  parts.push(base.subarray(at))
  return Buffer.concat(parts)
}

type ComposedEdits = { kind: 'composed'; edits: Edit[] } | { kind: 'conflict'; at: Edit; with: Edit }

/**
 * Merges two lists of edits of the same base into one sorted list. Disjoint edits compose, equal edits coalesce;
 * overlapping edits are a conflict, and so are two insertions at one point unless these may stand beside each other (`isAddedTo`): then
 * they do in the order of their texts. The order of the two lists does not matter.
 */
export function composeEdits(
  held: readonly Edit[],
  added: readonly Edit[],
  { isAddedTo = false }: { isAddedTo?: boolean } = {},
): ComposedEdits {
  const edits: Edit[] = []
  const sorted = [...held, ...added].toSorted(
    (left, right) => left.start - right.start || left.end - right.end || (left.text < right.text ? -1 : 1),
  )
  for (const edit of sorted) {
    const last = edits.at(-1)
    if (last !== undefined && isSameEdit(last, edit)) continue
    const isBeside = isAddedTo && last?.start === last?.end && edit.start === edit.end
    if (last !== undefined && !isBeside && collide(last, edit)) return { kind: 'conflict', at: edit, with: last }
    edits.push(edit)
  }
  return { kind: 'composed', edits }
}

export function isSameEdit(left: Edit, right: Edit): boolean {
  return left.start === right.start && left.end === right.end && left.text === right.text
}

type NewFile = Pick<Extract<FileChange, { kind: 'create' }>, 'content' | 'executable'>

export function isSameFile(left: NewFile, right: NewFile): boolean {
  return left.content === right.content && (left.executable ?? false) === (right.executable ?? false)
}

function collide(left: Edit, right: Edit): boolean {
  const bothInsertHere = left.start === left.end && right.start === right.end && left.start === right.start
  return bothInsertHere || right.start < left.end
}
