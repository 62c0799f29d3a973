import type { ChangeSet } from '#domain/change-set.ts'
import { applyEdits } from '#domain/apply-edits.ts'
import type { Evidence, EvidenceCheck } from '#domain/evidence.ts'
import type { ComposedFile } from '#objects/composition.ts'
import { languageOf } from '#syntax/grammars.ts'
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
  rules: Pick<RunRules, 'of'>
  readBlob(hash: string): Promise<Uint8Array>
  storeBlob(bytes: Uint8Array): Promise<string>
}

export type Proven = { files: ComposedFile[]; conflicts: LeftOutSet[] }

/**
 * Composes the sets and checks every file again as a whole: proof of the parts is no proof of the whole. Where a file
 * fails, the set that breaks it is found by adding them one by one, left out as WORK_004, and all is composed anew.
 */
export async function proveComposition(sets: readonly ChangeSet[], deps: ProofDeps): Promise<Proven> {
  const broken: LeftOutSet[] = []
  for (;;) {
    const excluded = new Set(broken.map((conflict) => conflict.changeSetId))
    const composed = composeChangeSets(sets.filter((set) => !excluded.has(set.changeSetId)))
    const files: ComposedFile[] = []
    let culprit: LeftOutSet | undefined
    for (const file of composed.files) {
      const proof = await proofOf(file, deps)
      culprit = proof.evidence.every((one) => one.ok) ? undefined : await findCulprit(file, deps)
      if (culprit !== undefined) break
      files.push(proof)
    }
    if (culprit === undefined) return { files, conflicts: [...composed.conflicts, ...broken] }
    broken.push(culprit)
  }
}

async function proofOf(file: FileResult, deps: ProofDeps): Promise<ComposedFile> {
  const { path, sets } = file
  const changeSetIds = sets.map((set) => set.changeSetId)
  if (file.kind === 'delete') {
    return { path, baseHash: file.baseHash, resultHash: null, changeSetIds, evidence: [] }
  }
  const { before, after } = await contentsOf(file, deps)
  const checked = { path, before, after: after.toString(), rules: deps.rules.of(path) }
  const evidence = await deps.evidence.check(checked, checksFor(path, sets))
  const baseHash = file.kind === 'edit' ? file.baseHash : null
  return { path, baseHash, resultHash: await deps.storeBlob(after), changeSetIds, evidence }
}

async function contentsOf(file: Exclude<FileResult, { kind: 'delete' }>, deps: ProofDeps) {
  if (file.kind === 'create') return { before: undefined, after: Buffer.from(file.content) }
  const base = await deps.readBlob(file.baseHash)
  return { before: Buffer.from(base).toString(), after: Buffer.from(applyEdits(base, file.edits)) }
}

/** A composed file is docstring-only when every set of it says so of itself. */
function checksFor(path: string, sets: readonly ChangeSet[]): EvidenceCheck[] {
  const isProved = (one: Evidence) => one.check === 'docstring_only' && one.path === path && one.ok
  const docstringsOnly = sets.every((set) => set.evidence.some(isProved))
  const checks = (['parses', 'lint_before_after'] as const).filter((check) => isExpected(check, path, sets))
  return docstringsOnly ? [...checks, 'docstring_only'] : checks
}

/** Python always; a grammar of another language may not know all its code, and a bundle that says so is believed. */
function isExpected(check: EvidenceCheck, path: string, sets: readonly ChangeSet[]): boolean {
  const isAsked = (one: Evidence) => one.path === path && (one.check === check || one.of === check)
  return languageOf(path) === 'python' || sets.some((set) => set.evidence.some(isAsked))
}

/** The first set after which the file fails its checks. */
async function findCulprit(file: FileResult, deps: ProofDeps): Promise<LeftOutSet> {
  for (let count = 1; count <= file.sets.length; count++) {
    const part = composeChangeSets(file.sets.slice(0, count)).files.find(({ path }) => path === file.path)
    const proof = part === undefined ? undefined : await proofOf(part, deps)
    const failed = proof?.evidence.find((one) => !one.ok)
    const set = file.sets[count - 1]
    if (failed === undefined || set === undefined) continue
    const reason = `${failed.check} fails for the composed file${failed.detail === undefined ? '' : `: ${failed.detail}`}`
    const partner = await findPartner(file, count - 1, deps)
    return { ...inConflict(set, file.path), path: file.path, errorCode: 'WORK_004', reason, ...partner }
  }
  throw new Error(`the composed file ${file.path} fails its checks, but none of its sets does`)
}

/** The set before the one at `index` that breaks the file together with it; nothing when that one breaks it alone. */
async function findPartner(file: FileResult, index: number, deps: ProofDeps): Promise<{ with?: SetInConflict }> {
  const set = file.sets[index]
  if (set === undefined || (await breaks([set], file.path, deps))) return {}
  for (const other of file.sets.slice(0, index)) {
    if (await breaks([other, set], file.path, deps)) return { with: inConflict(other, file.path) }
  }
  return {}
}

async function breaks(sets: readonly ChangeSet[], path: string, deps: ProofDeps): Promise<boolean> {
  const file = composeChangeSets(sets).files.find((one) => one.path === path)
  return file !== undefined && (await proofOf(file, deps)).evidence.some((one) => !one.ok)
}

function inConflict(set: ChangeSet, path: string): SetInConflict {
  const bytes = editedBytes(set, path)
  return { changeSetId: set.changeSetId, operationId: set.operationId, ...(bytes && { bytes }) }
}
