import type { LoadedLanguage } from '#syntax/parser.ts'
import type { Diagnostic, PythonLinter } from '../../evidence/python-linter.ts'
import type { TextEdit } from '../../evidence/text-edit.ts'
import type { TargetNode } from '../target-node.ts'
import { outermostDefinitions, type Range } from './outermost-definitions.ts'

export type LintDeps = { linter: PythonLinter; python: LoadedLanguage }

export type NodeLint = { source: string; diagnostics: Diagnostic[] }

/**
 * The linter's faults that belong to the node: those inside it. A file's are those outside every definition, so that
 * one fault is the business of a file or of a definition, not of both.
 */
export async function lintNode(target: TargetNode, deps: LintDeps): Promise<NodeLint> {
  const { source, start, end } = await target.locate()
  const isFile = target.node.kind === 'file'
  const holes = isFile ? outermostDefinitions(source, deps.python) : []
  const inNode = (range: Range) =>
    range.start >= start && range.end <= end && !holes.some((hole) => range.start < hole.end && hole.start < range.end)
  const diagnostics = deps.linter
    .lint(source)
    .diagnostics.filter(inNode)
    .toSorted((one, other) => one.start - other.start)
    .map((one) => ({
      ...one,
      fix: mayFix(one, target.node.path) && one.fix?.every(inNode) === true ? one.fix : undefined,
    }))
  return { source, diagnostics }
}

/** In a package's `__init__.py` an import that nothing uses is how names are made public. */
function mayFix(diagnostic: Diagnostic, path: string): boolean {
  const isPackage = path === '__init__.py' || path.endsWith('/__init__.py')
  return !(isPackage && ['F401', 'F811'].includes(diagnostic.code))
}

export type FixedSource = { source: string; applied: Diagnostic[] }

/** One pass: makes the fixes of rule `code` (all rules when undefined) that do not touch each other, in source order. */
export function applyFixes(lint: NodeLint, code: string | undefined): FixedSource {
  const applied: Diagnostic[] = []
  const edits: TextEdit[] = []
  for (const diagnostic of lint.diagnostics) {
    const fix = diagnostic.fix
    if (fix === undefined || (code !== undefined && diagnostic.code !== code)) continue
    if (fix.some((edit) => edits.some((made) => touches(edit, made)))) continue
    applied.push(diagnostic)
    edits.push(...fix)
  }
  let source = lint.source
  for (const edit of edits.toSorted((one, other) => other.start - one.start)) {
    source = source.slice(0, edit.start) + edit.text + source.slice(edit.end)
  }
  return { source, applied }
}

function touches(one: TextEdit, other: TextEdit): boolean {
  return one.start <= other.end && other.start <= one.end
}
