import { isDeepStrictEqual } from 'node:util'
import { isOfGoDirectives } from '#languages/go/go-definition.ts'
import type { BundleFile } from '#domain/agent-bundle.ts'
import { checkOf, type Edit, type Evidence, type FileChange } from '#domain/change-set.ts'
import { checkRow, isTestCheck } from '#domain/checks.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import { rehearsalLabel } from '#domain/model-kind.ts'
import type { ErrorCode } from '#domain/error.ts'
import { checksOfFile, type EvidenceChecker } from '../evidence/evidence-checker.ts'
import { agentParts, type RunRules } from '../evidence/run-rules.ts'
import type { TestProofs } from '../tools/tests/prove-tests.ts'
import type { Transcript } from '../agent/open-transcript.ts'
import type { Workspace } from '../workspace/open-workspace.ts'
import { textReader } from '../workspace/search-files.ts'

/** The changes of an attempt, with the evidence for them. */
export type Proof = { changes: readonly FileChange[]; evidence: readonly Evidence[] }

type Proven = {
  attempt: Pick<Attempt, 'operationId' | 'repeats'> & {
    node: Pick<Attempt['node'], 'path' | 'language' | 'startByte' | 'endByte'>
  }
  bundle: { bundle: { file: Pick<BundleFile, 'evidence'> } }
  rules: RunRules
  transcript: Pick<Transcript, 'exchanges'>
  workspace: Pick<Workspace, 'written' | 'changes' | 'exists' | 'readText' | 'readBaseBytes'>
}

type ProofDeps = { evidence: EvidenceChecker; tests: Pick<TestProofs, 'evidence'> }

/** Returns a function that proves the current changes, each state once. TOOL_005 where tests are to be run and cannot. */
export function openProof(proven: Proven, deps: ProofDeps): (signal: AbortSignal) => Promise<Proof> {
  const { workspace } = proven
  let last: { written: ReturnType<typeof workspace.written>; proof: Proof } | undefined
  return async (signal) => {
    const written = workspace.written()
    if (last !== undefined && isDeepStrictEqual(written, last.written)) return last.proof
    const changes = await workspace.changes()
    const proof = { changes, evidence: await evidenceOf(proven, changes, deps, signal) }
    last = { written, proof }
    return proof
  }
}

async function evidenceOf(
  { workspace, bundle, attempt, rules, transcript }: Proven,
  changes: readonly FileChange[],
  deps: ProofDeps,
  signal: AbortSignal,
): Promise<Evidence[]> {
  const evidence: Evidence[] = []
  for (const change of changes) {
    signal.throwIfAborted()
    const after = change.kind === 'delete' ? undefined : await workspace.readText(change.path)
    // A base that is no UTF-8 text is compared as far as it is.
    const base = change.kind === 'create' ? undefined : await workspace.readBaseBytes(change.path)
    const before = base && Buffer.from(base).toString()
    const inNode = isInNode(change, base, { attempt, rules })
    const { path, executable } = change
    const own = await rules.of(path)
    const file = { path, before, after, inNode, executable, rules: own, readFile: textReader(workspace) }
    const checks = checksOfFile({ path, isDeleted: after === undefined }, bundle.bundle.file.evidence)
    evidence.push(...asWritten(await deps.evidence.check(file, checks), transcript))
  }
  signal.throwIfAborted()
  const testChecks = bundle.bundle.file.evidence.filter(isTestCheck)
  const paths = changes.map(({ path }) => path)
  if (testChecks.length > 0 && paths.length > 0)
    evidence.push(...(await deps.tests.evidence(paths, testChecks, signal)))
  return evidence
}

function isInNode(
  change: FileChange,
  base: Uint8Array | undefined,
  { attempt, rules }: Pick<Proven, 'attempt' | 'rules'>,
): boolean {
  const { node } = attempt
  const ranges = agentParts(rules, attempt).own
  const allowed = ranges.length === 0 ? [node] : ranges
  const inRange = (edit: Edit) =>
    allowed.some(
      ({ startByte, endByte }) =>
        startIn(edit, { startByte, language: node.language, base }) >= startByte && edit.end <= endByte,
    )
  return change.kind === 'edit' && change.path === node.path && change.edits.every(inRange)
}

type EditedNode = { startByte: number; language: string; base: Uint8Array | undefined }

/** Finds the start of lines inserted above a node: they begin with its indentation, and Go's directives between belong to its doc comment. */
function startIn({ start, end, text }: Edit, { startByte, language, base }: EditedNode): number {
  if (start !== end || start >= startByte || base === undefined) return start
  const between = Buffer.from(base.subarray(start, startByte)).toString()
  const isOfNode = text.startsWith(between) || (language === 'go' && isOfGoDirectives(between))
  return isOfNode ? startByte : start
}

/** Fails `says_something` where the rehearsal model wrote the change: its docstrings are made by rules, whatever words are in them. */
function asWritten(evidence: readonly Evidence[], { exchanges }: Proven['transcript']): Evidence[] {
  if (!exchanges.some(({ model }) => model === rehearsalLabel)) return [...evidence]
  const failed = { ok: false, detail: `the ${rehearsalLabel} wrote it` }
  return evidence.map((proof) => (proof.check === 'says_something' ? { ...proof, ...failed } : proof))
}

/** The failed checks of harm, in words for the model and the outcome; undefined when none failed. */
export function evidenceFault(evidence: readonly Evidence[]): { code: ErrorCode; reason: string } | undefined {
  const failed = evidence.filter((proof) => !proof.ok && checkRow(checkOf(proof)).proof !== 'worth')
  if (failed.length === 0) return undefined
  const code = failed.some((proof) => proof.check === 'parses') ? 'WORK_004' : 'WORK_005'
  return { code, reason: failed.map(faultText).join('; ') }
}

function faultText({ check, path, before, after, detail }: Evidence): string {
  const figures = before === undefined || after === undefined ? '' : ` (${before} before, ${after} after)`
  return `${check} failed for ${path}${figures}${detail === undefined ? '' : `: ${detail}`}`
}
