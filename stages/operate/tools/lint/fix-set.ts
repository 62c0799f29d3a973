import type { Edit, Evidence } from '#domain/change-set.ts'
import type { TextCheck } from '#domain/checks.ts'
import type { PathRules } from '#domain/path-rules.ts'
import { fixableFaults } from '#languages/python/lint/fixable-faults.ts'
import type { Diagnostic, LintReport } from '#languages/lint/lint-report.ts'
import type { Linter } from '#languages/lint/linter.ts'
import type { EvidenceChecker } from '../../evidence/evidence-checker.ts'
import { faultsMade } from '../../evidence/lint-before-after.ts'
import { editsBetween } from '#change-sets/edits-between.ts'
import type { LintDeps } from './lint-node.ts'
import { isFree, movedRanges, separateFixes, withFixes, type Range } from './text-fixes.ts'

export type FixDeps = LintDeps & { linter: Pick<Linter, 'keepFormat'>; evidence: EvidenceChecker }

export type FileToFix = {
  path: string
  source: string
  rules: PathRules
  checks: readonly TextCheck[]
  /** Lists UTF-16 ranges that no fix may touch, since agents work on them. */
  keepOut: readonly Range[]
  /** Every fix must lie inside one of these ranges; undefined: anywhere. */
  within?: readonly Range[]
}

/** The proven fixes of one rule, or of several whose fixes depend on each other, applied to the source alone. */
export type FixSet = { rules: string[]; fixed: number; text: string; edits: Edit[]; evidence: Evidence[] }

/** A fault with a safe fix that was not made, and why. Lines are 1-based, of the source. */
export type LeftAlone = { rule: string; line: number; reason: string }

export type MadeSet = { set: FixSet | undefined; leftAlone: LeftAlone[] }

export type Making = { file: FileToFix; report: LintReport; deps: FixDeps; signal: AbortSignal }

/** Rounds in addition to those for the faults of the source, since a fix may cause a new fault. */
const extraRounds = 10

type Failed = { fault: Diagnostic; range: Range; left: LeftAlone }

/** Makes and proves the safe fixes of some rules, in rounds; bisection finds those that fail their proof, which are left alone. */
export async function makeFixSet(codes: readonly string[], making: Making): Promise<MadeSet> {
  const { file, deps, signal, report: first } = making
  const maxRounds = extraRounds + 2 * first.diagnostics.length
  let failed: Failed[] = []
  let made: SoundPart = { text: file.source, evidence: [], fixed: 0, failed: undefined }
  for (let round = 0; round < maxRounds; round++) {
    signal.throwIfAborted()
    const report = await deps.linter.lint(made.text, file.rules.lint)
    const open = openFixes(report.diagnostics, { file, text: made.text }, deps)
    const pass = separateFixes(open.filter((fault) => codes.includes(fault.code) && !hasFailed(fault, failed)))
    if (pass.length === 0) break
    const sound = await soundPart(pass, made.text, making)
    failed = failed.map((failure) => ({ ...failure, range: movedRange(failure.range, made.text, sound.text) }))
    if (sound.failed !== undefined) failed.push(leftBecause(sound.failed, file.source, made.text))
    if (sound.text !== made.text) made = { ...sound, fixed: made.fixed + sound.fixed }
  }
  const leftAlone = failed.map(({ left }) => left)
  const { text, evidence, fixed } = made
  if (text === file.source) return { set: undefined, leftAlone }
  const edits = editsBetween(Buffer.from(file.source), Buffer.from(text))
  return { set: { rules: [...codes], fixed, text, edits, evidence }, leftAlone }
}

type SoundPart = {
  text: string
  evidence: Evidence[]
  fixed: number
  failed: { fault: Diagnostic; reason: string } | undefined
}

/** Makes the largest first part of the fixes that passes the proof, found by bisection. The rest is left open. */
async function soundPart(pass: readonly Diagnostic[], text: string, making: Making): Promise<SoundPart> {
  const { file, deps } = making
  const fixed = await withFollowUps(withFixes(text, pass), making)
  const formatted = await deps.linter.keepFormat(file.source, fixed, file.rules)
  const whole = isInPart(formatted, file) ? formatted : fixed
  const evidence = await proofOf(whole, file, deps)
  const failure = evidence.find(({ ok }) => !ok)
  if (failure === undefined) return { text: whole, evidence, fixed: pass.length, failed: undefined }
  const [only] = pass
  if (only !== undefined && pass.length === 1) {
    const reason = `${failure.check}: ${failure.detail ?? 'failed'}`
    return { text, evidence: [], fixed: 0, failed: { fault: only, reason } }
  }
  return soundPart(pass.slice(0, Math.ceil(pass.length / 2)), text, making)
}

function isInPart(text: string, { source, keepOut, within }: FileToFix): boolean {
  const toBytes = (ranges: readonly Range[]) =>
    ranges.map(({ start, end }) => ({
      start: Buffer.byteLength(source.slice(0, start)),
      end: Buffer.byteLength(source.slice(0, end)),
    }))
  const [closed, open] = [toBytes(keepOut), within && toBytes(within)]
  return editsBetween(Buffer.from(source), Buffer.from(text)).every((edit) => isFree(edit, closed, open))
}

export async function proofOf(text: string, { path, source, rules, checks }: FileToFix, deps: FixDeps) {
  return deps.evidence.check({ path, before: source, after: text, inNode: true, rules }, checks)
}

async function withFollowUps(text: string, { file, report, deps }: Making): Promise<string> {
  const before = { text: file.source, report }
  let whole = text
  for (let round = 0; round < extraRounds; round++) {
    const after = { text: whole, report: await deps.linter.lint(whole, file.rules.lint) }
    const pass = separateFixes(openFixes(faultsMade(before, after), { file, text: whole }, deps))
    if (pass.length === 0) return whole
    whole = withFixes(whole, pass)
  }
  return whole
}

type FixedText = { file: FileToFix; text: string }

export function openFixes(diagnostics: readonly Diagnostic[], { file, text }: FixedText, deps: LintDeps): Diagnostic[] {
  const { path, source, rules } = file
  const { keptNames, ownModules } = rules
  const keepOut = movedRanges(file.keepOut, source, text)
  const within = file.within && movedRanges(file.within, source, text)
  const fixable = fixableFaults(diagnostics, { path, text, keptNames, ownModules }, deps.python)
  return fixable.filter(({ fix }) => fix?.every((edit) => isFree(edit, keepOut, within)) === true)
}

/** Compares positions as well, since of two equal faults only one may have failed. */
function hasFailed({ code, message, start, end }: Diagnostic, failed: readonly Failed[]): boolean {
  return failed.some(({ fault, range }) => {
    return fault.code === code && fault.message === message && (range.start === start || range.end === end)
  })
}

function leftBecause({ fault, reason }: NonNullable<SoundPart['failed']>, source: string, text: string): Failed {
  const { start, end, code } = fault
  const was = movedRange({ start, end }, text, source)
  const line = source.slice(0, was.start).split(/\r\n|\r|\n/).length
  return { fault, range: { start, end }, left: { rule: code, line, reason } }
}

function movedRange(range: Range, source: string, text: string): Range {
  return movedRanges([range], source, text)[0] ?? range
}
