import { type ChangeSet, checkOf, type Evidence } from '#domain/change-set.ts'
import { checkRow, isTestCheck, type TextCheck } from '#domain/checks.ts'
import type { FileResult } from '#change-sets/changes-at-path.ts'
import { composeChangeSets, type KnownSets } from '#change-sets/compose-change-sets.ts'
import type { ComposedEvidence, ComposedFile } from '#store/objects/composition.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { moduleNamesOf, moduleUsesOf } from '#languages/python/module-uses.ts'
import { languageOf } from '#languages/syntax/grammars.ts'
import type { LoadedLanguage } from '#languages/syntax/parser.ts'
import { checksOfFile, type EvidenceChecker } from '#stages/operate/evidence/evidence-checker.ts'
import type { ReadFile } from '#stages/operate/evidence/python-facts.ts'
import type { RunRules } from '#stages/operate/evidence/run-rules.ts'
import type { ComposedModule } from './composed-names.ts'
import { type RunJoinedTests, testChecksOf } from './run-joined-tests.ts'
import { type Contents, contentsOf, doneBy, seenInOneStep } from './contents-of.ts'

export type FileProofDeps = {
  evidence: EvidenceChecker
  python: Pick<LoadedLanguage, 'read'>
  rules: Pick<RunRules, 'of'>
  readBlob(hash: string): Promise<Uint8Array>
  storeBlob(bytes: Uint8Array): Promise<string>
  readFile?: ReadFile | undefined
  provedBefore?: ProvedBefore | undefined
  runTests?: RunJoinedTests | undefined
}

/** Returns the evidence of these checks on a file that just these sets have made before; undefined where one was not made. */
export type ProvedBefore = (
  file: Pick<ComposedFile, 'path' | 'changeSetIds'>,
  checks: readonly TextCheck[],
) => ComposedEvidence[] | undefined

/** Takes what operations have proved of a file that one of these sets makes alone, with the `tools` of this process. */
export function provedByOperation(sets: readonly ChangeSet[], tools: ReadonlySet<string>): ProvedBefore {
  const onBase = new Map(sets.flatMap((set) => (set.builtOn === undefined ? [[set.changeSetId, set.evidence]] : [])))
  return ({ path, changeSetIds: [id = '', ...others] }, checks) => {
    const made = others.length === 0 ? (onBase.get(id) ?? []) : []
    const isKnown = ({ check, tool }: Evidence) => check === 'not_applicable' || tools.has(tool)
    const passed = made.filter((proof) => proof.path === path && proof.ok && isKnown(proof))
    const proofs = checks.map((check) => passed.find((proof) => checkOf(proof) === check))
    return proofs.every((proof) => proof !== undefined) ? proofs : undefined
  }
}

export type FileProof = Contents & { file: FileResult; evidence: ComposedEvidence[] }
/** Makes the checks that the sets of the file ask for, or just one of them, if any of its sets asks for that. */
export type ProveFile = (file: FileResult, only?: TextCheck) => Promise<FileProof>

export function isProved({ evidence }: FileProof): boolean {
  return evidence.every((proof) => proof.ok)
}

/** Tells whether just documentation changes: what others use of the file, and it of them, is then as its repository's survey found it. */
export function isSameCode({ evidence }: FileProof): boolean {
  return evidence.some(({ check, ok, inPart }) => check === 'docstring_only' && ok && inPart === undefined)
}

/** Caches the proof of a file by its sets: most files of a group stay the same when a set is left out. */
export function openFileProofs(deps: FileProofDeps): ProveFile {
  const known = new Map<string, Promise<FileProof>>()
  return (file, only) => {
    const key = JSON.stringify([file.path, file.sets.map((set) => set.changeSetId), only ?? null])
    const proof = known.get(key) ?? proofOf(file, only, deps)
    known.set(key, proof)
    return proof
  }
}

async function proofOf(file: FileResult, only: TextCheck | undefined, deps: FileProofDeps): Promise<FileProof> {
  const contents = await contentsOf(file, deps)
  const asking = checksFor(file).map(({ checks, of }) => ({
    of,
    checks: checks.filter((check) => check === (only ?? check)),
  }))
  const checks = asking.flatMap((group) => group.checks)
  const made = { path: file.path, changeSetIds: file.sets.map((set) => set.changeSetId) }
  const known = checks.some((check) => checkRow(check).reads === 'other files')
    ? undefined
    : deps.provedBefore?.(made, checks)
  const evidence = known ?? (await checkTogether(file, { asking, contents }, deps))
  const isSound = only === undefined && evidence.every(({ ok }) => ok)
  return { file, ...contents, evidence: [...evidence, ...(await testEvidenceOf(file, isSound ? deps : {}))] }
}

async function checkTogether(
  file: FileResult,
  { asking, contents }: { asking: readonly AskedChecks[]; contents: Contents },
  deps: FileProofDeps,
): Promise<ComposedEvidence[]> {
  const { path, sets } = file
  const { readFile } = deps
  const rules = await deps.rules.of(path)
  const check = async (done: Pick<FileResult, 'executable'> & Contents, checks: readonly TextCheck[]) => {
    const { before, after, executable } = done
    const texts = { path, before: before?.toString(), after: after?.toString() }
    return deps.evidence.check({ ...texts, executable, rules, ...(readFile && { readFile }) }, checks)
  }
  const evidence: ComposedEvidence[] = []
  for (const { of, checks } of asking) {
    if (checks.length === 0) continue
    if (of.length === sets.length) {
      evidence.push(...(await check({ ...contents, executable: file.executable }, checks)))
      continue
    }
    const parts: Evidence[][] = []
    for (const part of seenInOneStep(of, sets))
      parts.push(await check(await doneBy(part, { file, contents }, deps), checks))
    evidence.push(...firstFaults(parts).map((proof) => ({ ...proof, inPart: true as const })))
  }
  return evidence
}

/** Returns each of the same checks once, although they were made several times: one that failed, if there is one. */
function firstFaults([first = [], ...others]: readonly Evidence[][]): Evidence[] {
  return first.map(
    (proof, at) => (proof.ok ? others.flatMap((row) => row[at] ?? []).find(({ ok }) => !ok) : proof) ?? proof,
  )
}

/** Returns what operations have proved by running the file's tests; where several sets make it, what running them with all shows. */
async function testEvidenceOf(
  file: FileResult,
  { runTests }: Pick<FileProofDeps, 'runTests'>,
): Promise<ComposedEvidence[]> {
  const { path, sets } = file
  const ran = sets
    .flatMap(({ evidence }) => evidence)
    .filter((proof) => proof.path === path && isTestCheck(checkOf(proof)))
  const checks = testChecksOf(file)
  if (sets.length === 1 || checks.length === 0) return ran
  const detail = 'several changes made this file, and its tests were not run with all of them'
  return (
    (await runTests?.(file, checks)) ??
    checks.map((of) => ({ check: 'not_checked', of, path, ok: true, tool: 'none', detail }))
  )
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

/** Returns undefined for a file that is not Python. */
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

/** Checks, and the sets of a file that ask for them. */
type AskedChecks = { checks: TextCheck[]; of: readonly ChangeSet[] }

/**
 * Returns each check with the sets whose bundles ask for it; of Python every set is asked whether the file parses and is linted as before.
 * `only_node_changed` is about the places of edits, `says_something` about the words of one set: they are not made again.
 */
function checksFor({ path, sets, kind }: FileResult): AskedChecks[] {
  // A grammar of another language may not parse all valid code, so there the bundle decides.
  const always: TextCheck[] = languageOf(path) === 'python' ? ['parses', 'lint_before_after'] : []
  const askedBy = new Map<TextCheck, ChangeSet[]>()
  for (const set of sets) {
    const own = set.evidence.filter((proof) => proof.path === path && (proof.check !== 'docstring_only' || proof.ok))
    for (const check of checksOfFile({ path, isDeleted: kind === 'delete' }, [...always, ...own.map(checkOf)]))
      getOrMake(askedBy, check, () => []).push(set)
  }
  askedBy.delete('only_node_changed')
  askedBy.delete('says_something')
  const bySets = new Map<string, AskedChecks>()
  for (const [check, of] of askedBy) {
    const ids = of.map(({ changeSetId }) => changeSetId).join(' ')
    getOrMake(bySets, ids, () => ({ checks: [], of })).checks.push(check)
  }
  return [...bySets.values()]
}

type ComposedTreeDeps = {
  known: KnownSets
  snapshot(): Promise<Pick<SnapshotView, 'find'>>
  readBlob(hash: string): Promise<Uint8Array>
}

/** Reads files as all of `sets` together make them. Nothing is composed, and no snapshot read, before the first is asked for. */
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
