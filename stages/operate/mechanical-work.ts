import type { Outcome } from '#domain/operation.ts'
import { applyEdits, type ChangeSet, composeEdits, type Edit, type Evidence } from '#domain/change-set.ts'
import { costSoFar, type RunningAttempt } from './attempt/running-attempt.ts'
import { changeSetOf } from './ending/decide-outcome.ts'
import { onSnapshot, type OnSnapshot } from './ending/on-snapshot.ts'
import { commitOutcome, type SettleDeps } from './ending/settle-operation.ts'
import { composedEdits, fixFile } from './tools/lint/fix-file.ts'
import { proofOf, type FixDeps, type FixSet, type LeftAlone } from './tools/lint/fix-set.ts'
import { checksOfFile } from './evidence/evidence-checker.ts'
import { agentParts } from './evidence/run-rules.ts'
import { utf16Ranges } from './tools/lint/text-fixes.ts'

type Fixing = Pick<RunningAttempt, 'attempt' | 'bundle' | 'workspace' | 'rules'>

type MechanicalWork = { sets: ChangeSet[]; fixed: { rules: string[]; count: number }[]; leftAlone: LeftAlone[] }

/** Makes the safe lint fixes of a file outside the nodes that agents work on. TOOL_006 for a file that cannot be linted. */
export async function makeLintFixes(
  { attempt, bundle, workspace, rules, built }: Fixing & Pick<RunningAttempt, 'built'>,
  deps: FixDeps,
  signal: AbortSignal,
): Promise<MechanicalWork> {
  const { path } = attempt.node
  const source = await workspace.readText(path)
  const keepOut = utf16Ranges(source, rules.agentRanges(path))
  const within = utf16Ranges(source, [attempt.node])
  const checks = checksOfFile({ path, isDeleted: false }, bundle.bundle.file.evidence).filter(
    (check) => check !== 'only_node_changed',
  )
  const file = { path, source, rules: await rules.of(path), checks, keepOut, within }
  const { sets, leftAlone } = await fixFile(file, deps, signal)
  const baseHash = workspace.baseHash(path)
  const placed = (fixes: Fixes): PlacedFixes => {
    const edits = [...fixes.edits]
    return { ...fixes, changes: onSnapshot({ built, workspace }, [{ kind: 'edit', path, baseHash, edits }]) }
  }
  const prove = (edits: readonly Edit[]) => {
    signal.throwIfAborted()
    return proofOf(Buffer.from(applyEdits(Buffer.from(source), edits)).toString(), file, deps)
  }
  const together = built === undefined ? sets.map(placed) : await withoutRivals(sets, { placed, prove })
  return {
    sets: together.map(({ changes, rules: codes, evidence }) =>
      changeSetOf(attempt, changes, { rules: codes, evidence }),
    ),
    fixed: sets.map(({ rules: codes, fixed }) => ({ rules: codes, count: fixed })),
    leftAlone,
  }
}

type Fixes = Pick<FixSet, 'rules' | 'evidence'> & { edits: readonly Edit[] }

type PlacedFixes = Fixes & { changes: OnSnapshot }

type Joining = { placed(fixes: Fixes): PlacedFixes; prove(edits: readonly Edit[]): Promise<Evidence[]> }

/** Joins fixes of several rules that replace one edit they are built on, of which only one could be in a patch; unless they fail together. */
async function withoutRivals(sets: readonly Fixes[], { placed, prove }: Joining): Promise<PlacedFixes[]> {
  let kept: PlacedFixes[] = []
  for (const set of sets) {
    let added = placed(set)
    for (;;) {
      const rival = kept.find((fixes) => exclude(fixes.changes, added.changes))
      const joined = rival && (await joinedFixes([rival, added], prove))
      if (joined === undefined) break
      kept = kept.filter((fixes) => fixes !== rival)
      added = placed(joined)
    }
    kept.push(added)
  }
  return kept
}

function exclude(left: OnSnapshot, right: OnSnapshot): boolean {
  const [edits, others] = [left, right].map(({ files: [file] }) => (file?.kind === 'edit' ? file.edits : undefined))
  return edits === undefined || others === undefined || composeEdits(edits, others).kind === 'conflict'
}

async function joinedFixes(fixes: readonly Fixes[], prove: Joining['prove']): Promise<Fixes | undefined> {
  const edits = composedEdits(fixes)
  const evidence = edits && (await prove(edits))
  if (edits === undefined || evidence?.every(({ ok }) => ok) !== true) return undefined
  return { rules: fixes.flatMap(({ rules }) => rules).toSorted(), edits, evidence }
}

const [namedReasons, namedPlaces] = [3, 3]

/** Ends a mechanical operation like an agent's: with its record, then one atomic commit. */
export async function settleMechanical(running: RunningAttempt, work: MechanicalWork, deps: SettleDeps): Promise<void> {
  const { sets, fixed, leftAlone } = work
  const settlement = {
    outcome: outcomeOf(running, work),
    made: { changeSet: null, changeSets: sets, leftAlone },
    details: { fixed, left_alone: leftAlone },
    evidence: sets.flatMap(({ evidence }) => evidence),
  }
  await commitOutcome(running, settlement, deps)
}

function outcomeOf(running: RunningAttempt, { sets, fixed, leftAlone }: MechanicalWork): Outcome {
  const made = fixed.map(({ rules, count }) => `${rules.join(', ')} (${count})`).join('; ')
  const left = leftAlone.length === 0 ? '' : `; left alone: ${leftAloneText(leftAlone)}`
  const summary = `${made === '' ? 'no fix was made' : `fixed without a model: ${made}`}${left}`
  const cost = { ...(leftAlone.length > 0 && { leavesWork: true as const }), ...costSoFar(running) }
  if (sets.length === 0) return { status: 'unchanged', summary, changedFiles: [], ...cost }
  const changeSetIds = sets.map((set) => set.changeSetId)
  return { status: 'succeeded', summary, changeSetIds, changedFiles: [running.attempt.node.path], ...cost }
}

/** `F401 in line 3, F401 in line 9 (why)`: each reason once, after its places. */
export function leftAloneText(leftAlone: MechanicalWork['leftAlone']): string {
  const reasons = [...Map.groupBy(leftAlone, ({ reason }) => reason)]
  const named = reasons.slice(0, namedReasons).map(([reason, faults]) => {
    const places = [...new Set(faults.map(({ rule, line }) => `${rule} in line ${line}`))]
    return `${someOf(places, namedPlaces)} (${reason})`
  })
  const more = reasons.slice(namedReasons).reduce((sum, [, faults]) => sum + faults.length, 0)
  return `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

function someOf(places: readonly string[], most: number): string {
  const more = places.length - most
  return `${places.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Makes the safe fixes in the agent's own part of the node, so that it is asked only for the rest; returns how many. */
export async function fixBeforeAgent(
  { attempt, bundle, workspace, rules }: Fixing,
  deps: FixDeps,
  signal: AbortSignal,
): Promise<number> {
  const { path } = attempt.node
  const { mechanical, evidence } = bundle.bundle.file
  const { own, others } = agentParts(rules, attempt)
  if (mechanical !== 'lint_fixes' || own.length === 0) return 0
  const source = await workspace.readText(path)
  const [keepOut, within] = [utf16Ranges(source, others), utf16Ranges(source, own)]
  const checks = checksOfFile({ path, isDeleted: false }, evidence)
  const { sets } = await fixFile({ path, source, rules: await rules.of(path), checks, keepOut, within }, deps, signal)
  const edits = composedEdits(sets)
  if (edits === undefined || edits.length === 0) return 0
  await workspace.writeText(path, Buffer.from(applyEdits(Buffer.from(source), edits)).toString())
  return sets.reduce((sum, { fixed }) => sum + fixed, 0)
}
