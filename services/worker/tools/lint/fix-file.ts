import { applyEdits } from '#domain/apply-edits.ts'
import type { Edit } from '#domain/change-set.ts'
import { composeEdits } from '#domain/compose-edits.ts'
import type { Evidence, EvidenceCheck } from '#domain/evidence.ts'
import type { PathRules } from '#domain/path-rules.ts'
import { fixableFaults } from '#lint/fixable-faults.ts'
import type { Diagnostic, LintReport } from '#lint/lint-report.ts'
import type { PythonLinter } from '#lint/python-linter.ts'
import type { EvidenceChecker } from '../../evidence/evidence-checker.ts'
import { faultsMade } from '../../evidence/lint-before-after.ts'
import { editsBetween } from '../../workspace/edits-between.ts'
import type { LintDeps } from './lint-node.ts'
import { movedRanges, separateFixes, withFixes, type Range } from './text-fixes.ts'

export type FixDeps = LintDeps & { linter: Pick<PythonLinter, 'keepFormat'>; evidence: EvidenceChecker }

export type FileToFix = {
  path: string
  source: string
  rules: PathRules
  /** What every set of fixes has to prove. */
  checks: readonly EvidenceCheck[]
  /** UTF-16 ranges whose faults are somebody else's. */
  keepOut: readonly Range[]
  /** Only faults inside one of them; undefined: everywhere. */
  within?: readonly Range[]
}

/** The proven safe fixes of one rule, or of several whose fixes overlap, made on the source alone. */
export type FixSet = { rules: string[]; fixed: number; text: string; edits: Edit[]; evidence: Evidence[] }

/** A fault with a safe fix that was not made, and why. Lines are 1-based, of the source. */
export type LeftAlone = { rule: string; line: number; reason: string }

/** `text` is the file with all of the sets made. */
export type FixedFile = { sets: FixSet[]; leftAlone: LeftAlone[]; text: string }

/** Rounds beyond those that the faults of the source take: a fix may bring up the next one. */
const extraRounds = 10

/**
 * Makes the safe fixes of a file, one set for each rule, each proved against the source by itself, so that a rule whose
 * fixes fail takes no other along. Rules whose fixes overlap share a set, since sets are composed later without order.
 * Where a set fails its proof, the fixes that fail are found by halving and left alone. TOOL_006 for a file that cannot
 * be linted.
 */
export async function fixFile(file: FileToFix, deps: FixDeps, signal: AbortSignal): Promise<FixedFile> {
  const report = await deps.linter.lint(file.source, file.rules.lint)
  const codes = [...new Set(openFixes(report, { file, text: file.source }, deps).map(({ code }) => code))].toSorted()
  let sets: FixSet[] = []
  const leftAlone: LeftAlone[] = []
  for (const code of codes) {
    const alone = await makeSet([code], { file, report, deps, signal })
    const rivals = sets.filter((set) => alone.set !== undefined && overlap(set, alone.set))
    if (rivals.length === 0) {
      leftAlone.push(...alone.leftAlone)
      if (alone.set !== undefined) sets.push(alone.set)
      continue
    }
    const joint = await makeSet([...rivals.flatMap(({ rules }) => rules), code], { file, report, deps, signal })
    const others = sets.filter((set) => !rivals.includes(set))
    if (joint.set !== undefined && !others.some((set) => joint.set !== undefined && overlap(set, joint.set))) {
      sets = [...others, joint.set]
      leftAlone.push(...joint.leftAlone)
      continue
    }
    const line = alone.set === undefined ? 1 : (report.diagnostics.find((one) => one.code === code)?.line ?? 1)
    leftAlone.push({ rule: code, line, reason: `its fixes overlap those of ${rivals.map(namesOf).join(' and ')}` })
  }
  const { kept, dropped } = await provenTogether(sets, file, deps)
  return { sets: kept, leftAlone: [...leftAlone, ...dropped], text: withSets(kept, file.source) ?? file.source }
}

/** The sets that also pass the proof when all of them are made: each was proved alone. */
async function provenTogether(
  sets: readonly FixSet[],
  file: FileToFix,
  deps: FixDeps,
): Promise<{ kept: FixSet[]; dropped: LeftAlone[] }> {
  if (sets.length < 2 || (await failureOf(sets, file, deps)) === undefined) return { kept: [...sets], dropped: [] }
  const kept: FixSet[] = []
  const dropped: LeftAlone[] = []
  for (const set of sets) {
    const failure = await failureOf([...kept, set], file, deps)
    if (failure === undefined) kept.push(set)
    else dropped.push({ rule: namesOf(set), line: firstLineOf(set, file), reason: `with other fixes, ${failure}` })
  }
  return { kept, dropped }
}

/** Why the file does not pass the proof with all of `sets`; undefined when it does. */
async function failureOf(sets: readonly FixSet[], file: FileToFix, deps: FixDeps): Promise<string | undefined> {
  const after = withSets(sets, file.source)
  if (after === undefined) return 'its edits overlap theirs'
  const checked = { path: file.path, before: file.source, after, inNode: true, rules: file.rules }
  const failure = (await deps.evidence.check(checked, file.checks)).find(({ ok }) => !ok)
  return failure && `${failure.check}: ${failure.detail ?? 'failed'}`
}

/** `source` with all of `sets` made; undefined when two of them overlap. */
function withSets(sets: readonly FixSet[], source: string): string | undefined {
  let edits: readonly Edit[] = []
  for (const set of sets) {
    const composed = composeEdits(edits, set.edits)
    if (composed.kind === 'conflict') return undefined
    edits = composed.edits
  }
  return Buffer.from(applyEdits(Buffer.from(source), edits)).toString()
}

function firstLineOf({ edits }: FixSet, { source }: FileToFix): number {
  const start = Math.min(...edits.map((edit) => edit.start))
  return Buffer.from(source).subarray(0, start).toString().split('\n').length
}

type Making = { file: FileToFix; report: LintReport; deps: FixDeps; signal: AbortSignal }
type MadeSet = { set: FixSet | undefined; leftAlone: LeftAlone[] }

/**
 * Round by round, since a fix moves the places of the others. Every round makes fixes or finds one that fails, so that it
 * ends; two fixes that undo each other would not, hence the limit.
 */
async function makeSet(codes: readonly string[], making: Making): Promise<MadeSet> {
  const { file, deps, signal, report: first } = making
  const failed = new Map<string, LeftAlone>()
  const maxRounds = extraRounds + 2 * first.diagnostics.length
  let made: Omit<SoundPart, 'leftAlone'> = { text: file.source, evidence: [], fixed: 0 }
  for (let round = 0; round < maxRounds; round++) {
    signal.throwIfAborted()
    const report = await deps.linter.lint(made.text, file.rules.lint)
    const open = openFixes(report, { file, text: made.text }, deps)
    const pass = separateFixes(open.filter((one) => codes.includes(one.code) && !failed.has(keyOf(one, made.text))))
    if (pass.length === 0) break
    const { leftAlone, ...sound } = await soundPart(pass, made.text, making)
    for (const one of leftAlone) failed.set(one.key, one.fault)
    if (sound.text !== made.text) made = { ...sound, fixed: made.fixed + sound.fixed }
  }
  const { text, evidence, fixed } = made
  const leftAlone = [...failed.values()]
  if (text === file.source) return { set: undefined, leftAlone }
  const edits = editsBetween(Buffer.from(file.source), Buffer.from(text))
  return { set: { rules: [...new Set(codes)], fixed, text, edits, evidence }, leftAlone }
}

type SoundPart = {
  text: string
  evidence: Evidence[]
  fixed: number
  leftAlone: { key: string; fault: LeftAlone }[]
}

/** `text` with those of the fixes that pass the proof, found by halving; the second half waits for the next round. */
async function soundPart(pass: readonly Diagnostic[], text: string, making: Making): Promise<SoundPart> {
  const { file, deps } = making
  const fixed = await withFollowUps(withFixes(text, pass), making)
  const whole = await deps.linter.keepFormat(file.source, fixed, file.rules.text)
  const checked = { path: file.path, before: file.source, after: whole, inNode: true, rules: file.rules }
  const evidence = await deps.evidence.check(checked, file.checks)
  const failure = evidence.find(({ ok }) => !ok)
  if (failure === undefined) return { text: whole, evidence, fixed: pass.length, leftAlone: [] }
  const [only] = pass
  if (only !== undefined && pass.length === 1) {
    const reason = `${failure.check}: ${failure.detail ?? 'failed'}`
    const fault = { rule: only.code, line: only.line, reason }
    return { text, evidence: [], fixed: 0, leftAlone: [{ key: keyOf(only, text), fault }] }
  }
  return soundPart(pass.slice(0, Math.ceil(pass.length / 2)), text, making)
}

/** A fix that brings up a fault of its own (an import that its rewrite made unused) is made whole: that is fixed, too. */
async function withFollowUps(text: string, { file, report, deps }: Making): Promise<string> {
  const before = { text: file.source, report }
  let whole = text
  for (let round = 0; round < extraRounds; round++) {
    const after = { text: whole, report: await deps.linter.lint(whole, file.rules.lint) }
    const { path, rules } = file
    const fresh = fixableFaults(
      faultsMade(before, after),
      { path, text: whole, keptNames: rules.keptNames, ownModules: rules.ownModules },
      deps.python,
    )
    const pass = separateFixes(fresh)
    if (pass.length === 0) return whole
    whole = withFixes(whole, pass)
  }
  return whole
}

/** The faults whose fixes may be made: safe, allowed by the repository, and in the part of the file that is asked for. */
function openFixes(
  report: LintReport,
  { file, text }: { file: FileToFix; text: string },
  deps: LintDeps,
): Diagnostic[] {
  const { path, source, rules } = file
  const keepOut = movedRanges(file.keepOut, source, text)
  const within = file.within && movedRanges(file.within, source, text)
  const isFree = ({ start, end }: Range) =>
    !keepOut.some((other) => start < other.end && other.start < end) &&
    (within?.some((range) => start >= range.start && end <= range.end) ?? true)
  const { keptNames, ownModules } = rules
  const fixable = fixableFaults(report.diagnostics, { path, text, keptNames, ownModules }, deps.python)
  return fixable.filter(({ fix }) => fix?.every(isFree) === true)
}

/** A fault by its rule, its message and its line's text: places move with the fixes that are made. */
function keyOf({ code, message, start }: Diagnostic, text: string): string {
  const line = text.slice(text.lastIndexOf('\n', start - 1) + 1, (text.indexOf('\n', start) + 1 || text.length + 1) - 1)
  return `${code}\0${message}\0${line.trim()}`
}

function overlap(one: FixSet, other: FixSet): boolean {
  return composeEdits(one.edits, other.edits).kind === 'conflict'
}

function namesOf({ rules }: FixSet): string {
  return rules.join(', ')
}
