import type { LintRules } from '#domain/path-rules.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import type { Diagnostic } from '#lint/lint-report.ts'
import type { PythonLinter } from '#lint/python-linter.ts'
import type { TextEdit } from '#lint/text-edit.ts'
import { isStub } from '#python/stub-file.ts'
import type { TargetNode } from '../target-node.ts'
import { moduleOutline, type ModuleOutline, type Range } from './module-outline.ts'

export type LintDeps = { linter: Pick<PythonLinter, 'lint'>; python: LoadedLanguage }

export type NodeLint = { source: string; rules: LintRules; diagnostics: Diagnostic[] }

/**
 * The linter's faults that belong to the node: those inside it. A file's are those outside every definition, so that
 * one fault is the business of a file or of a definition, not of both. A stub has none. TOOL_006 for a file that cannot
 * be linted.
 */
export async function lintNode(target: TargetNode, deps: LintDeps): Promise<NodeLint> {
  const { source, start, end } = await target.locate()
  if (isStub(target.node.path)) return { source, rules: target.rules.lint, diagnostics: [] }
  const isFile = target.node.kind === 'file'
  const outline = isFile ? moduleOutline(source, deps.python) : undefined
  const holes = outline?.definitions ?? []
  const inNode = (range: Range) =>
    range.start >= start && range.end <= end && !holes.some((hole) => range.start < hole.end && hole.start < range.end)
  const report = await deps.linter.lint(source, target.rules.lint)
  const diagnostics = report.diagnostics
    .filter(inNode)
    .toSorted((one, other) => one.start - other.start)
    .map((one) => ({
      ...one,
      fix: mayFix(one, target.node.path, outline) && one.fix?.every(inNode) === true ? one.fix : undefined,
    }))
  return { source, rules: target.rules.lint, diagnostics }
}

/**
 * An import that nothing uses may be how a name is made public: everywhere in a package's `__init__.py`, and elsewhere
 * where a module takes a name from another one (`from _ssl import SSLError` in CPython's `ssl`). Who uses it from there
 * cannot be seen in the file.
 */
function mayFix({ code, start }: Diagnostic, path: string, outline: ModuleOutline | undefined): boolean {
  if (!['F401', 'F811'].includes(code)) return true
  if (path === '__init__.py' || path.endsWith('/__init__.py')) return false
  return outline?.fromImports.some((statement) => statement.start <= start && start < statement.end) !== true
}

export type FixedSource = { source: string; applied: Diagnostic[] }

/**
 * One pass: makes the fixes of rule `code` (all rules when undefined) that do not touch each other. Two fixes can be
 * right alone and wrong together (each takes a statement out of a body of two): where a pass would bring up syntax
 * errors, half of it is made, down to one fix. What is left comes up in the next pass.
 */
export async function applyFixes(lint: NodeLint, code: string | undefined, deps: LintDeps): Promise<FixedSource> {
  const before = await deps.linter.lint(lint.source, lint.rules)
  let open = separateFixes(lint.diagnostics.filter((one) => code === undefined || one.code === code))
  let pass = open
  while (pass.length > 0) {
    const source = withFixes(lint.source, pass)
    const after = await deps.linter.lint(source, lint.rules)
    if (after.syntaxErrors.length <= before.syntaxErrors.length) return { source, applied: pass }
    const [only] = pass
    if (pass.length === 1) open = open.filter((one) => one !== only)
    pass = pass.length === 1 ? open : pass.slice(0, Math.ceil(pass.length / 2))
  }
  return { source: lint.source, applied: [] }
}

/** Those that have a fix, without any that touches an earlier one. */
function separateFixes(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const made: TextEdit[] = []
  return diagnostics.filter(({ fix }) => {
    if (fix === undefined || fix.some((edit) => made.some((other) => touches(edit, other)))) return false
    made.push(...fix)
    return true
  })
}

function withFixes(text: string, diagnostics: readonly Diagnostic[]): string {
  const edits = diagnostics.flatMap((one) => one.fix ?? []).toSorted((one, other) => one.start - other.start)
  const pieces: string[] = []
  let end = 0
  for (const edit of edits) {
    pieces.push(text.slice(end, edit.start), edit.text)
    end = edit.end
  }
  return pieces.join('') + text.slice(end)
}

function touches(one: TextEdit, other: TextEdit): boolean {
  return one.start <= other.end && other.start <= one.end
}
