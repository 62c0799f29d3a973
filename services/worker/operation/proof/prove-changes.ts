import type { BundleFile } from '#domain/agent-bundle.ts'
import type { FileChange } from '#domain/change-set.ts'
import type { Evidence } from '#domain/evidence.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { EvidenceChecker } from '../../evidence/evidence-checker.ts'
import { agentParts, type RunRules } from '../../evidence/run-rules.ts'
import type { Workspace } from '../../workspace/open-workspace.ts'

/** What an attempt has changed, and what was found out about it. */
export type Proof = { changes: readonly FileChange[]; evidence: readonly Evidence[] }

type Proven = {
  attempt: { operationId: string; node: Pick<Attempt['node'], 'path' | 'startByte' | 'endByte'> }
  bundle: { bundle: { file: Pick<BundleFile, 'evidence'> } }
  rules: RunRules
  workspace: Pick<Workspace, 'written' | 'changes' | 'readText' | 'readBase'>
}

/**
 * Proves the changes of an attempt as it stands; what was written since is proved anew, and nothing twice. Throws what
 * aborts the signal, without looking at another file.
 */
export function openProof(
  proven: Proven,
  deps: { evidence: EvidenceChecker },
): (signal?: AbortSignal) => Promise<Proof> {
  const { workspace } = proven
  let last: { written: ReturnType<typeof workspace.written>; proof: Proof } | undefined
  return async (signal) => {
    const written = workspace.written()
    if (last !== undefined && isSame(written, last.written)) return last.proof
    const changes = await workspace.changes()
    const proof = { changes, evidence: await evidenceOf(proven, changes, deps, signal) }
    last = { written, proof }
    return proof
  }
}

type Written = readonly { path: string; text: string }[]

function isSame(one: Written, other: Written): boolean {
  return (
    one.length === other.length &&
    one.every(({ path, text }, at) => path === other[at]?.path && text === other[at].text)
  )
}

async function evidenceOf(
  { workspace, bundle, attempt, rules }: Proven,
  changes: readonly FileChange[],
  deps: { evidence: EvidenceChecker },
  signal?: AbortSignal,
): Promise<Evidence[]> {
  const evidence: Evidence[] = []
  for (const change of changes) {
    signal?.throwIfAborted()
    if (change.kind === 'delete') continue
    const after = await workspace.readText(change.path)
    const before = change.kind === 'edit' ? await workspace.readBase(change.path) : undefined
    const inNode = isInNode(change, attempt, rules)
    const file = { path: change.path, before, after, inNode, rules: rules.of(change.path) }
    evidence.push(...(await deps.evidence.check(file, bundle.bundle.file.evidence)))
  }
  signal?.throwIfAborted()
  return evidence
}

/** Within the node; where the operation is about some of its statements only, within one of these. */
function isInNode(change: FileChange, attempt: Proven['attempt'], rules: Proven['rules']): boolean {
  const { node } = attempt
  const ranges = agentParts(rules, attempt).own
  const allowed = ranges.length === 0 ? [node] : ranges
  const inRange = (edit: { start: number; end: number }) =>
    allowed.some(({ startByte, endByte }) => edit.start >= startByte && edit.end <= endByte)
  return change.kind === 'edit' && change.path === node.path && change.edits.every(inRange)
}
