import { type ChangeSet, checkOf, proofOf } from '#domain/change-set.ts'
import type { EvidenceCheck } from '#domain/checks.ts'
import { neededFirst } from '#change-sets/independent-groups.ts'
import type { Run } from '#domain/run.ts'
import { type Decisions, maxDecisionsAtOnce } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Composition } from '#store/objects/composition.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getBundle } from '#store/objects/stored-records.ts'
import type { CollectedChange } from './collect-changes.ts'

type PolicyDeps = { ledger: Pick<Ledger, 'decide'>; objects: ObjectStore }

type Composed = {
  selected: readonly CollectedChange[]
  composition: Composition
  decisions: Decisions
}

const by = { kind: 'policy', id: 'auto' } as const

/** Accepts, with `accept: auto`, what nobody has ever decided on and has the evidence. False when somebody has decided since. */
export async function acceptByPolicy(run: Run, composed: Composed, deps: PolicyDeps): Promise<boolean> {
  if (run.request.accept !== 'auto') return true
  const { composition, decisions, selected } = composed
  // What the run was to prove is not proved.
  if (composition.gate?.verdict === 'unproved') return true
  const needed = await neededEvidence(run, deps.objects)
  const leftOut = new Set(composition.conflicts.map(({ changeSetId }) => changeSetId))
  const verdictOn = (id: string) => decisions.byChangeSet.get(id)?.verdict
  // What a person took back is pending, too, and not for the policy.
  const proved = selected.filter(
    ({ set }) =>
      verdictOn(set.changeSetId) === undefined &&
      !leftOut.has(set.changeSetId) &&
      hasEvidence(set, needed.get(set.bundle)),
  )
  const undecided = withAllNeeded(proved, (id) => verdictOn(id) === 'accepted')
  for (let first = 0; first < undecided.length; first += maxDecisionsAtOnce) {
    const slice = undecided.slice(first, first + maxDecisionsAtOnce).map(({ set, operation, recordHash }) => ({
      changeSetId: set.changeSetId,
      verdict: 'accepted' as const,
      before: 'pending' as const,
      reason: null,
      agent: set.bundle,
      operationId: operation.operationId,
      node: operation.node,
      recordHash,
    }))
    const made = await deps.ledger.decide(run.runId, { last: decisions.last, decisions: slice, by })
    if (made === undefined) return false
    for (const decision of made) decisions.byChangeSet.set(decision.changeSetId, decision)
    decisions.last = made.at(-1)?.version ?? decisions.last
  }
  return true
}

/** Returns the changes of which every set that they are built on is accepted or among them, and puts that one before them. */
function withAllNeeded(changes: readonly CollectedChange[], isAccepted: (id: string) => boolean): CollectedChange[] {
  const byId = new Map(changes.map((change) => [change.set.changeSetId, change]))
  const whole = changes.filter(({ set }) => (set.builtOn ?? []).every((id) => isAccepted(id) || byId.has(id)))
  return neededFirst(whole.map(({ set }) => set)).flatMap(({ changeSetId }) => byId.get(changeSetId) ?? [])
}

async function neededEvidence(
  { projectId, bundleHashes }: Run,
  objects: ObjectStore,
): Promise<Map<string, readonly EvidenceCheck[]>> {
  const bundles = await Promise.all((bundleHashes ?? []).map((hash) => getBundle(objects, projectId, hash)))
  return new Map(bundles.flatMap(({ file }) => (file.accept_when === undefined ? [] : [[file.name, file.accept_when]])))
}

/** Each file has passed a check, and all that are needed. None proves that nobody needs a deleted file, or a mode that changes. */
function hasEvidence(set: ChangeSet, needed: readonly EvidenceCheck[] | undefined): boolean {
  if (needed === undefined || proofOf(set) !== 'passed') return false
  return set.files.every(
    ({ path, kind, executable }) =>
      kind !== 'delete' &&
      executable === undefined &&
      needed.every((check) => set.evidence.some((proof) => checkOf(proof) === check && proof.path === path)),
  )
}
