import { applyEdits, type ChangeSet, type EvidenceCheck } from '#domain/change-set.ts'
import type { ComposedFile } from '#objects/composition.ts'
import { type ModuleUses, moduleUsesOf } from '#python/module-uses.ts'
import { languageOf } from '#syntax/grammars.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import { foldKeptNames } from '#python/kept-names.ts'
import type { EvidenceChecker } from '../evidence/evidence-checker.ts'
import type { RunRules } from '../evidence/run-rules.ts'
import {
  composeChangeSets,
  editedBytes,
  type FileResult,
  type LeftOutSet,
  type SetInConflict,
} from './compose-change-sets.ts'

export type ProofDeps = {
  evidence: EvidenceChecker
  python: Pick<LoadedLanguage, 'read'>
  rules: Pick<RunRules, 'of'>
  readBlob(hash: string): Promise<Uint8Array>
  storeBlob(bytes: Uint8Array): Promise<string>
}

export type Proven = { files: ComposedFile[]; conflicts: LeftOutSet[] }

type FileProof = { composed: ComposedFile; module: ComposedModule | undefined }
type ProveFile = (file: FileResult, checks: readonly EvidenceCheck[]) => Promise<FileProof>

/**
 * Composes the sets, checks every composed file again, and then the names that the files use of each other: proof of
 * the parts is no proof of the whole. When a check fails, the sets are added one by one to find the one that breaks it;
 * that one is left out as WORK_004, and the rest is composed again. Of two that fail only together, it is the later one.
 */
export async function proveComposition(sets: readonly ChangeSet[], deps: ProofDeps): Promise<Proven> {
  const prove = openFileProofs(deps)
  const broken: LeftOutSet[] = []
  for (;;) {
    const excluded = new Set(broken.map((conflict) => conflict.changeSetId))
    const left = sets.filter((set) => !excluded.has(set.changeSetId))
    const composed = composeChangeSets(left)
    const proofs: FileProof[] = []
    let culprit: LeftOutSet | undefined
    for (const file of composed.files) {
      const proof = await prove(file, checksFor(file))
      culprit = isProved(proof) ? undefined : await fileCulprit(file, prove)
      if (culprit !== undefined) break
      proofs.push(proof)
    }
    culprit ??= await nameCulprit({ sets: left, files: composed.files }, proofs, prove)
    if (culprit === undefined) {
      return { files: proofs.map((proof) => proof.composed), conflicts: [...composed.conflicts, ...broken] }
    }
    broken.push(culprit)
  }
}

function isProved({ composed }: FileProof): boolean {
  return composed.evidence.every((one) => one.ok)
}

/** Caches the proof of a file by its sets: most files stay the same when a set is left out. */
function openFileProofs(deps: ProofDeps): ProveFile {
  const known = new Map<string, Promise<FileProof>>()
  return (file, checks) => {
    const key = JSON.stringify([file.path, file.sets.map((set) => set.changeSetId), checks])
    const proof = known.get(key) ?? proofOf(file, checks, deps)
    known.set(key, proof)
    return proof
  }
}

async function proofOf(file: FileResult, checks: readonly EvidenceCheck[], deps: ProofDeps): Promise<FileProof> {
  const { path, sets } = file
  const changeSetIds = sets.map((set) => set.changeSetId)
  const { before, after } = await contentsOf(file, deps)
  const baseHash = file.kind === 'create' ? null : file.baseHash
  const usesOf = (text: string | undefined) =>
    text === undefined ? undefined : deps.python.read(text, (tree) => moduleUsesOf(tree, text))
  const isPython = languageOf(path) === 'python'
  const module = isPython ? { path, before: usesOf(before), after: usesOf(after?.toString()) } : undefined
  if (after === undefined) return { composed: { path, baseHash, resultHash: null, changeSetIds, evidence: [] }, module }
  const checked = { path, before, after: after.toString(), rules: deps.rules.of(path) }
  const evidence = await deps.evidence.check(checked, checks)
  return { composed: { path, baseHash, resultHash: await deps.storeBlob(after), changeSetIds, evidence }, module }
}

async function contentsOf(file: FileResult, deps: ProofDeps) {
  if (file.kind === 'create') return { before: undefined, after: Buffer.from(file.content) }
  const base = await deps.readBlob(file.baseHash)
  const before = Buffer.from(base).toString()
  return { before, after: file.kind === 'edit' ? Buffer.from(applyEdits(base, file.edits)) : undefined }
}

/**
 * The checks of a composed file: all that were requested for any of its sets. `docstring_only` applies if every set
 * passed it; `only_node_changed` does not apply to a whole file.
 */
function checksFor({ path, sets }: FileResult): EvidenceCheck[] {
  const own = sets.map((set) => set.evidence.filter((one) => one.path === path))
  const docstringsOnly = own.every((all) => all.some((one) => one.check === 'docstring_only' && one.ok))
  // Always for Python. A grammar of another language may not parse all valid code, so there the bundle decides.
  const always: EvidenceCheck[] = languageOf(path) === 'python' ? ['parses', 'lint_before_after'] : []
  const asked = own.flat().flatMap(({ check, of = [] }) => (check === 'not_checked' ? of : check))
  const checks = new Set([...always, ...asked])
  checks.delete('only_node_changed')
  checks.delete('docstring_only')
  return docstringsOnly ? [...checks, 'docstring_only'] : [...checks]
}

async function fileCulprit(file: FileResult, prove: ProveFile): Promise<LeftOutSet> {
  const checks = checksFor(file)
  for (const [at, set] of file.sets.entries()) {
    const { files } = composeChangeSets(file.sets.slice(0, at + 1))
    const part = files.find(({ path }) => path === file.path)
    const failed = part === undefined ? undefined : (await prove(part, checks)).composed.evidence.find((one) => !one.ok)
    if (failed === undefined) continue
    const detail = failed.detail === undefined ? '' : `: ${failed.detail}`
    const partner = await findPartner(file, at, prove)
    return { ...leftOut(set, file.path, `${failed.check} fails for the composed file${detail}`), ...partner }
  }
  throw new Error(`the composed file ${file.path} fails its checks, but none of its sets does`)
}

/** The first set with which a changed file uses a name of another file that no longer binds it. */
async function nameCulprit(
  composed: { sets: readonly ChangeSet[]; files: readonly FileResult[] },
  proofs: readonly FileProof[],
  prove: ProveFile,
): Promise<LeftOutSet | undefined> {
  const modules = proofs.flatMap(({ module }) => module ?? [])
  const lost = lostNameIn(modules)
  if (lost === undefined) return undefined
  const pair = modules.filter(({ path }) => path === lost.path || path === lost.user)
  const touches = (set: ChangeSet) => set.files.some(({ path }) => pair.some((module) => module.path === path))
  const involved = composed.sets.filter((set) => composed.files.some((file) => file.sets.includes(set)) && touches(set))
  for (const [at, set] of involved.entries()) {
    const { files } = composeChangeSets(involved.slice(0, at + 1))
    const parts = pair.map(async (module) => {
      const file = files.find(({ path }) => path === module.path)
      const part = file === undefined ? undefined : (await prove(file, [])).module
      return part ?? { ...module, after: module.before } // none of these sets changes it
    })
    const found = lostNameIn(await Promise.all(parts))
    if (found !== undefined) return leftOut(set, found.path, `${found.user} uses "${found.name}", which this removes`)
  }
  throw new Error(`${lost.user} uses "${lost.name}" of ${lost.path}, which is lost, but none of the sets removes it`)
}

/** The earlier set that breaks the file together with the one at `index`; none when that one breaks it alone. */
async function findPartner(file: FileResult, index: number, prove: ProveFile): Promise<{ with?: SetInConflict }> {
  const set = file.sets[index]
  if (set === undefined || (await breaks([set], file, prove))) return {}
  for (const other of file.sets.slice(0, index)) {
    if (await breaks([other, set], file, prove)) return { with: inConflict(other, file.path) }
  }
  return {}
}

async function breaks(sets: readonly ChangeSet[], whole: FileResult, prove: ProveFile): Promise<boolean> {
  const file = composeChangeSets(sets).files.find((one) => one.path === whole.path)
  return file !== undefined && !isProved(await prove(file, checksFor(whole)))
}

function leftOut(set: ChangeSet, path: string, reason: string): LeftOutSet {
  return { ...inConflict(set, path), path, errorCode: 'WORK_004', reason }
}

function inConflict(set: ChangeSet, path: string): SetInConflict {
  const bytes = editedBytes(set, path)
  return { changeSetId: set.changeSetId, operationId: set.operationId, ...(bytes && { bytes }) }
}

/** What a changed Python file used and bound before and after; undefined where the file does not exist. */
type ComposedModule = { path: string; before: ModuleUses | undefined; after: ModuleUses | undefined }

/** A name that the file `user` uses of the file at `path`, which no longer binds it. */
type LostName = { path: string; user: string; name: string }

/**
 * The first name that a module bound before and no longer binds, and that another changed file uses. What the unchanged
 * files of the snapshot use is checked for each file alone (`PathRules.keptNames`).
 */
function lostNameIn(modules: readonly ComposedModule[]): LostName | undefined {
  const taken = takenNames(modules)
  for (const module of modules) {
    const lost = lostOf(module, taken(module.path))
    const [name] = lost
    if (name === undefined) continue
    const isUser = (other: ComposedModule) => lostOf(module, takenNames([module, other])(module.path)).includes(name)
    const user = modules.find((other) => other.path !== module.path && isUser(other))
    if (user !== undefined) return { path: module.path, user: user.path, name }
  }
  return undefined
}

function lostOf({ before, after }: ComposedModule, taken: 'all' | string[]): string[] {
  const bound = new Set(after?.binds)
  const names = taken === 'all' ? (before?.binds ?? []) : taken
  return names.filter((name) => !bound.has(name))
}

function takenNames(modules: readonly ComposedModule[]): (path: string) => 'all' | string[] {
  const uses = modules.map(({ path, before, after }): [string, ModuleUses] => {
    const { modules: taken, packages } = after ?? { modules: {}, packages: {} }
    return [path, { modules: taken, packages, binds: before?.binds ?? [], exported: [] }]
  })
  return foldKeptNames(new Map(uses))
}
