import {
  applyEdits,
  type ChangeSet,
  type Evidence,
  isTestCheck,
  type TextCheck,
  readsOtherFiles,
} from '#domain/change-set.ts'
import type { FileResult } from '#composition/changes-at-path.ts'
import { composeChangeSets, type KnownSets } from '#composition/compose-change-sets.ts'
import type { ComposedFile } from '#objects/composition.ts'
import type { SnapshotView } from '#objects/snapshot.ts'
import { moduleNamesOf, moduleUsesOf } from '#python/module-uses.ts'
import { languageOf } from '#syntax/grammars.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import { checksOfFile, type EvidenceChecker } from '../evidence/evidence-checker.ts'
import type { ReadFile } from '../evidence/samples-match.ts'
import type { RunRules } from '../evidence/run-rules.ts'
import type { ComposedModule } from './composed-names.ts'

export type FileProofDeps = {
  evidence: EvidenceChecker
  python: Pick<LoadedLanguage, 'read'>
  rules: Pick<RunRules, 'of'>
  readBlob(hash: string): Promise<Uint8Array>
  storeBlob(bytes: Uint8Array): Promise<string>
  /** The text of a file of the composed tree. */
  readFile?: ReadFile | undefined
  /** The evidence of these checks on a file that just these sets have made before; undefined where one of them was not made. */
  provedBefore?: ProvedBefore | undefined
}

export type ProvedBefore = (
  file: Pick<ComposedFile, 'path' | 'changeSetIds'>,
  checks: readonly TextCheck[],
) => Evidence[] | undefined

/**
 * What operations of the run have proved of a file that one of these sets makes alone: it is theirs to the byte, under the same rules.
 * Only a check that was passed counts, made by the `tools` of this process; anything else is checked again.
 */
export function provedByOperation(sets: readonly ChangeSet[], tools: ReadonlySet<string>): ProvedBefore {
  const onBase = new Map(sets.flatMap((set) => (set.builtOn === undefined ? [[set.changeSetId, set.evidence]] : [])))
  return ({ path, changeSetIds: [id = '', ...others] }, checks) => {
    const made = others.length === 0 ? (onBase.get(id) ?? []) : []
    const passed = made.filter((one) => one.path === path && one.ok && tools.has(one.tool))
    const found = checks.map((check) => passed.find((one) => one.check === check))
    return found.every((one) => one !== undefined) ? found : undefined
  }
}

/** Of one file; undefined where it does not exist. */
export type Contents = { before: Buffer | undefined; after: Buffer | undefined }
export type FileProof = Contents & { file: FileResult; evidence: Evidence[] }
export type ProveFile = (file: FileResult, checks: readonly TextCheck[]) => Promise<FileProof>

export function isProved({ evidence }: FileProof): boolean {
  return evidence.every((one) => one.ok)
}

/** Caches the proof of a file by its sets: most files of a group stay the same when a set is left out. */
export function openFileProofs(deps: FileProofDeps): ProveFile {
  const known = new Map<string, Promise<FileProof>>()
  return (file, checks) => {
    const key = JSON.stringify([file.path, file.sets.map((set) => set.changeSetId), checks])
    const proof = known.get(key) ?? proofOf(file, checks, deps)
    known.set(key, proof)
    return proof
  }
}

async function proofOf(file: FileResult, checks: readonly TextCheck[], deps: FileProofDeps): Promise<FileProof> {
  const contents = await contentsOf(file, deps)
  const { before, after } = contents
  const { path, sets, executable } = file
  const made = { path, changeSetIds: sets.map((set) => set.changeSetId) }
  const known = checks.some(readsOtherFiles) ? undefined : deps.provedBefore?.(made, checks)
  const ran = testEvidenceOf(file)
  if (known !== undefined) return { file, ...contents, evidence: [...known, ...ran] }
  const texts = { before: before?.toString(), after: after?.toString() }
  const checked = {
    path,
    ...texts,
    executable,
    rules: await deps.rules.of(path),
    ...(deps.readFile && { readFile: deps.readFile }),
  }
  return { file, ...contents, evidence: [...(await deps.evidence.check(checked, checks)), ...ran] }
}

/**
 * What operations have proved by running the tests in the file, where it is one set's alone: composition runs no program, and whether the
 * tests pass together with the changes of others is for the run's gate.
 */
function testEvidenceOf({ path, sets: [only, ...others] }: FileResult): Evidence[] {
  const ran = (only?.evidence ?? []).filter((one) => one.path === path && isTestCheck(one.of ?? one.check))
  if (others.length === 0) return ran
  return ran.map(({ check, of = check }) => {
    const detail = 'several changes made this file, and its tests were not run with all of them'
    return { check: 'not_checked', ...(of === 'not_checked' ? {} : { of }), path, ok: true, tool: 'none', detail }
  })
}

export async function storeFile({ file, after, evidence }: FileProof, deps: FileProofDeps): Promise<ComposedFile> {
  const { path, sets, executable } = file
  const changeSetIds = sets.map((set) => set.changeSetId)
  const baseHash = file.kind === 'create' ? null : file.baseHash
  return {
    path,
    baseHash,
    resultHash: after === undefined ? null : await deps.storeBlob(after),
    ...(executable === undefined ? {} : { executable }),
    changeSetIds,
    evidence,
  }
}

export async function contentsOf(file: FileResult, deps: Pick<FileProofDeps, 'readBlob'>): Promise<Contents> {
  if (file.kind === 'create') return { before: undefined, after: Buffer.from(file.content) }
  const before = Buffer.from(await deps.readBlob(file.baseHash))
  return { before, after: file.kind === 'edit' ? Buffer.from(applyEdits(before, file.edits)) : undefined }
}

/** Undefined for a file that is not Python. */
export function moduleOf(
  path: string,
  { before, after }: Contents,
  { python }: FileProofDeps,
): ComposedModule | undefined {
  if (languageOf(path) !== 'python') return undefined
  const text = after?.toString()
  return {
    path,
    before: before && python.read(before.toString(), moduleNamesOf),
    after: text === undefined ? undefined : python.read(text, (tree) => moduleUsesOf(tree, text)),
  }
}

/**
 * The checks of a composed file: all that were requested for any of its sets. `docstring_only` applies if every set
 * passed it; `only_node_changed` does not apply to a whole file.
 */
export function checksFor({ path, sets, kind }: FileResult): TextCheck[] {
  const own = sets.map((set) => set.evidence.filter((one) => one.path === path))
  const docstringsOnly = own.every((all) => all.some((one) => one.check === 'docstring_only' && one.ok))
  // Always for Python. A grammar of another language may not parse all valid code, so there the bundle decides.
  const always: TextCheck[] = languageOf(path) === 'python' ? ['parses', 'lint_before_after'] : []
  const asked = own.flat().flatMap(({ check, of = [] }) => (check === 'not_checked' ? of : check))
  const checks = new Set(checksOfFile({ path, isDeleted: kind === 'delete' }, [...always, ...asked]))
  checks.delete('only_node_changed')
  checks.delete('docstring_only')
  return docstringsOnly ? [...checks, 'docstring_only'] : [...checks]
}

type ComposedTreeDeps = {
  known: KnownSets
  snapshot(): Promise<Pick<SnapshotView, 'find'>>
  readBlob(hash: string): Promise<Uint8Array>
}

/**
 * Reads files of the repository as all of `sets` together make it, for checks that look at more than one file. Nothing is composed, and
 * no snapshot read, before the first file is asked for.
 */
export function readComposed(sets: readonly ChangeSet[], deps: ComposedTreeDeps): ReadFile {
  let composed: ReadonlyMap<string, FileResult> | undefined
  return async (path) => {
    composed ??= new Map(composeChangeSets(sets, deps.known).files.map((file) => [file.path, file]))
    const changed = composed.get(path)
    if (changed !== undefined) return (await contentsOf(changed, deps)).after?.toString()
    const file = (await deps.snapshot()).find(path)
    return file && Buffer.from(await deps.readBlob(file.hash)).toString()
  }
}
