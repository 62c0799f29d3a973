import { applyEdits, composeEdits, type Edit } from '#domain/change-set.ts'
import {
  makeFixSet,
  openFixes,
  proofOf,
  type FileToFix,
  type FixDeps,
  type FixSet,
  type LeftAlone,
  type MadeSet,
  type Making,
} from './fix-set.ts'

export type FixedFile = { sets: FixSet[]; leftAlone: LeftAlone[] }

/**
 * Makes the safe fixes of a file, in one set for each rule. Each set is proved against the source by itself, so that
 * one rule's failing fixes do not affect another rule. Rules share a set where their fixes overlap, where together they
 * leave a fault that neither leaves alone, and where the fixes of one make faults of the other. The sets are composed
 * later, in any order, so their composition is proved here as well. TOOL_006 for a file that cannot be linted.
 */
export async function fixFile(file: FileToFix, deps: FixDeps, signal: AbortSignal): Promise<FixedFile> {
  const report = await deps.linter.lint(file.source, file.rules.lint)
  const making = { file, report, deps, signal }
  const open = openFixes(report.diagnostics, { file, text: file.source }, deps)
  const codes = [...new Set(open.map(({ code }) => code))].toSorted()
  const leftAlone: LeftAlone[] = []
  let made: ProvenSet[] = []
  for (const code of codes) {
    const alone = await makeFixSet([code], making)
    if (!hasSet(alone)) {
      leftAlone.push(...alone.leftAlone)
      continue
    }
    const rivals = await rivalsOf(alone, made, making)
    const others = made.filter((set) => !rivals.includes(set))
    const joint = rivals.length === 0 ? alone : await makeFixSet([...rivals.flatMap(rulesOf), code], making)
    const fits = hasSet(joint) && (rivals.length === 0 || (await rivalsOf(joint, others, making)).length === 0)
    if (fits) made = [...others, joint]
    else {
      const reason = `its fix cannot be combined with those of ${rivals.flatMap(rulesOf).join(', ')}`
      leftAlone.push(...open.filter((fault) => fault.code === code).map(({ line }) => ({ rule: code, line, reason })))
    }
  }
  const all = [...made.flatMap((set) => set.leftAlone), ...leftAlone].toSorted((left, right) => left.line - right.line)
  return { sets: made.map(({ set }) => set), leftAlone: all }
}

type ProvenSet = MadeSet & { set: FixSet }

function hasSet(made: MadeSet): made is ProvenSet {
  return made.set !== undefined
}

/** The sets with which `added` cannot be composed: the edits overlap, or the result fails the proof. */
async function rivalsOf(added: ProvenSet, made: readonly ProvenSet[], making: Making): Promise<readonly ProvenSet[]> {
  const meeting = made.filter(({ set }) => composedEdits([set, added.set]) === undefined)
  if (meeting.length > 0 || made.length === 0) return meeting
  if (await isSound([...made, added], making)) return []
  const failing: ProvenSet[] = []
  for (const set of made) if (!(await isSound([set, added], making))) failing.push(set)
  return failing.length > 0 ? failing : made
}

async function isSound(sets: readonly ProvenSet[], { file, deps, signal }: Making): Promise<boolean> {
  signal.throwIfAborted()
  const edits = composedEdits(sets.map(({ set }) => set))
  if (edits === undefined) return false
  const text = Buffer.from(applyEdits(Buffer.from(file.source), edits)).toString()
  const isTidy = /^\s*\n/.test(file.source) || !/^\s*\n/.test(text)
  if (!isTidy || (await deps.linter.keepFormat(file.source, text, file.rules)) !== text) return false
  if (!(await proofOf(text, file, deps)).every(({ ok }) => ok)) return false
  return (await faultsLeft(text, sets, { file, deps })) <= sets.flatMap((set) => set.leftAlone).length
}

/** Counts the faults left that the rules of the sets could fix: one set may undo what another one has done. */
async function faultsLeft(
  text: string,
  sets: readonly ProvenSet[],
  { file, deps }: Pick<Making, 'file' | 'deps'>,
): Promise<number> {
  const codes = new Set(sets.flatMap(rulesOf))
  const { diagnostics } = await deps.linter.lint(text, file.rules.lint)
  return openFixes(diagnostics, { file, text }, deps).filter(({ code }) => codes.has(code)).length
}

/** Composes the edits of all sets; undefined when two overlap, or are equal: an equal edit may be half of two different changes. */
export function composedEdits(sets: readonly { edits: readonly Edit[] }[]): readonly Edit[] | undefined {
  let edits: readonly Edit[] = []
  for (const set of sets) {
    const both = composeEdits(edits, set.edits)
    if (both.kind === 'conflict' || both.edits.length < edits.length + set.edits.length) return undefined
    edits = both.edits
  }
  return edits
}

const rulesOf = ({ set }: ProvenSet): string[] => set.rules
