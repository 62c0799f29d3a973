import type { ChangeSet } from '#domain/change-set.ts'
import { applyEdits } from '#domain/apply-edits.ts'
import type { Evidence, EvidenceCheck } from '#domain/evidence.ts'
import type { ComposedFile, Conflict } from '#objects/composition.ts'
import { moduleUsesOf } from '#python/module-uses.ts'
import { languageOf } from '#syntax/grammars.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import type { EvidenceChecker } from '../evidence/evidence-checker.ts'
import type { RunRules } from '../evidence/run-rules.ts'
import { composeChangeSets, type FileResult } from './compose-change-sets.ts'
import { lostNameIn, type ComposedModule } from './composed-names.ts'

export type ProofDeps = {
  evidence: EvidenceChecker
  python: Pick<LoadedLanguage, 'read'>
  rules: Pick<RunRules, 'of'>
  readBlob(hash: string): Promise<Uint8Array>
  storeBlob(bytes: Uint8Array): Promise<string>
}

export type Proven = { files: ComposedFile[]; conflicts: Conflict[] }

/** What was proved of one composed file, and what its module binds and takes, where it is Python. */
type FileProof = { composed: ComposedFile; module: ComposedModule | undefined }
type ProveFile = (file: FileResult, checks: readonly EvidenceCheck[]) => Promise<FileProof>

/**
 * Composes the sets and checks every file again as a whole, and then the names that the files take of each other: proof of
 * the parts is no proof of the whole. Where a check fails, the set that breaks it is found by adding them one by one, left
 * out as WORK_004, and all is composed anew. Of two sets that are wrong only together, that is the later one.
 */
export async function proveComposition(sets: readonly ChangeSet[], deps: ProofDeps): Promise<Proven> {
  const prove = openFileProofs(deps)
  const broken: Conflict[] = []
  for (;;) {
    const excluded = new Set(broken.map((conflict) => conflict.changeSetId))
    const left = sets.filter((set) => !excluded.has(set.changeSetId))
    const composed = composeChangeSets(left)
    const proofs: FileProof[] = []
    let culprit: Conflict | undefined
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

/** Remembers what it proved of a file that the same sets make: most files stay as they are when a set is left out. */
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
 * What a composed file must pass: every check that one of its sets was asked for. It is docstring-only when every set of
 * it was proved to be; which node its parts lie in says nothing of the whole.
 */
function checksFor({ path, sets }: FileResult): EvidenceCheck[] {
  const own = sets.map((set) => set.evidence.filter((one) => one.path === path))
  const docstringsOnly = own.every((all) => all.some((one) => one.check === 'docstring_only' && one.ok))
  // Python always; a grammar of another language may not know all its code, and a bundle that says so is believed.
  const always: EvidenceCheck[] = languageOf(path) === 'python' ? ['parses', 'lint_before_after'] : []
  const asked = new Set([...always, ...own.flat().flatMap(checkAskedFor)])
  asked.delete('only_node_changed')
  asked.delete('docstring_only')
  return docstringsOnly ? [...asked, 'docstring_only'] : [...asked]
}

function checkAskedFor({ check, of }: Evidence): EvidenceCheck[] {
  if (check !== 'not_checked') return [check]
  return of === undefined ? [] : [of]
}

/** The first set after which the file fails the checks of the whole. */
async function fileCulprit(file: FileResult, prove: ProveFile): Promise<Conflict> {
  const checks = checksFor(file)
  for (const [at, set] of file.sets.entries()) {
    const { files } = composeChangeSets(file.sets.slice(0, at + 1))
    const part = files.find(({ path }) => path === file.path)
    const failed = part === undefined ? undefined : (await prove(part, checks)).composed.evidence.find((one) => !one.ok)
    if (failed === undefined) continue
    const detail = failed.detail === undefined ? '' : `: ${failed.detail}`
    return conflictOf(set, file.path, `${failed.check} fails for the composed file${detail}`)
  }
  throw new Error(`the composed file ${file.path} fails its checks, but none of its sets does`)
}

/** The first set after which a changed file takes a name of another that this one binds no more. */
async function nameCulprit(
  composed: { sets: readonly ChangeSet[]; files: readonly FileResult[] },
  proofs: readonly FileProof[],
  prove: ProveFile,
): Promise<Conflict | undefined> {
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
    if (found !== undefined)
      return conflictOf(set, found.path, `${found.user} takes "${found.name}" of it, which is gone`)
  }
  throw new Error(
    `${lost.user} takes "${lost.name}" of ${lost.path}, which is gone, but none of the sets takes it away`,
  )
}

function conflictOf({ changeSetId, operationId }: ChangeSet, path: string, reason: string): Conflict {
  return { changeSetId, operationId, path, errorCode: 'WORK_004', reason }
}
