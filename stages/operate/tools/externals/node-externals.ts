import { hasCode } from '#domain/error.ts'
import { DocstringStyle, isGoRules } from '#domain/path-rules.ts'
import { findDocstringSite } from '#languages/python/docstring-site.ts'
import { isStub } from '#languages/python/python-file.ts'
import type { Diagnostic } from '#languages/lint/lint-report.ts'
import { type Workspace, WorkspaceFault } from '../../workspace/open-workspace.ts'
import { describeDefinition, docstringForm } from '../docstring/describe-definition.ts'
import { insertDocstring } from '../docstring/insert-docstring.ts'
import type { SyntaxChecker } from '../../evidence/syntax-evidence.ts'
import type { LocatedNode, TargetNode } from '../target-node.ts'
import { text } from './external-arguments.ts'
import type { ExternalFunction } from '#tool-scripts/script-call.ts'
import { applyFixes, type LintDeps, lintNode } from '../lint/lint-node.ts'
import { withFixes } from '../lint/text-fixes.ts'

export type DocstringDeps = LintDeps & { syntax: Pick<SyntaxChecker, 'describe' | 'insert'> }

/** `describe_definition` and `insert_docstring` on the attempt's node; in other languages than Python a docstring is a doc comment. */
export function docstringExternals(workspace: Workspace, target: TargetNode, deps: DocstringDeps) {
  const isPython = () => target.node.language === 'python'
  const place = ({ source, start, end }: LocatedNode) => {
    const { rules, node } = target
    return { language: node.language, source, range: { start, end }, text: rules.text }
  }
  return {
    async describe_definition() {
      const located = await target.locate()
      const { source, start } = located
      const inPython = () =>
        deps.python.read(source, (tree) => {
          const site = findDocstringSite(tree, start)
          if (site === undefined) return undefined
          return { ...describeDefinition(site), ...docstringForm(site, source, target.rules.text) }
        })
      const facts = isPython() ? inPython() : await deps.syntax.describe(place(located))
      if (facts === undefined) throw new WorkspaceFault('refused', 'the node is no function or class')
      return { ...facts, path: target.node.path, qualified_name: target.node.qualifiedName, kind: target.node.kind }
    },
    async insert_docstring([docstring, style]) {
      const located = await target.locate()
      const { source, start } = located
      if (isStub(target.node.path)) throw new WorkspaceFault('refused', 'a stub file holds no docstrings')
      const wanted = { docstring: text(docstring, 'docstring'), style: styleNamed(style) }
      const answer = isPython()
        ? await insertDocstring({ source, index: start, ...wanted, rules: target.rules }, deps)
        : await deps.syntax.insert(place(located), wanted.docstring)
      if (answer.kind === 'refused') throw new WorkspaceFault('refused', answer.reason)
      const written = await formattedAt(start, { source, written: answer.text }, target, deps)
      await workspace.writeText(target.node.path, written)
      return { path: target.node.path, characters: written.length - source.length }
    },
  } satisfies Record<string, ExternalFunction>
}

type Written = { source: string; written: string }

/** Writes what is at `start` as gofmt does, where Go is linted: gofmt formats the lists and code in doc comments, too. */
async function formattedAt(start: number, { source, written }: Written, target: TargetNode, deps: LintDeps) {
  const { lint: rules } = target.rules
  if (!isGoRules(rules)) return written
  const end = start + written.length - source.length
  try {
    const { diagnostics } = await deps.linter.lint(written, rules)
    return withFixes(
      written,
      diagnostics.filter((one) => start <= one.start && one.end <= end),
    )
  } catch (error) {
    // A worker without gofmt writes the text all the same: its evidence says what could not be checked.
    if (!hasCode(error, 'TOOL_006')) throw error
    return written
  }
}

/** Returns undefined, for the style of the repository, when `style` is `auto` or missing. */
function styleNamed(style: unknown): DocstringStyle | undefined {
  if (style === undefined || style === null || style === 'auto') return undefined
  const named = DocstringStyle.safeParse(style)
  if (named.success) return named.data
  const choices = 'auto, google, numpy, sphinx or plain'
  throw new WorkspaceFault('refused', `style must be ${choices}, got: ${JSON.stringify(style)}`)
}

/** A fix may cause the next fault (removing a use leaves an unused import), so fixing repeats, at most this often. */
const maxRounds = 10

/** `run_linter` and `apply_lint_fix` on the attempt's node: the model chooses a rule, the tool makes the fixes. */
export function lintExternals(workspace: Workspace, target: TargetNode, deps: LintDeps) {
  return {
    run_linter: async () => report((await lintNode(target, deps)).diagnostics),
    async apply_lint_fix([code]) {
      const wanted = code === undefined || code === null ? undefined : text(code, 'code')
      let applied = 0
      for (let round = 0; round < maxRounds; round++) {
        const fixed = await applyFixes(await lintNode(target, deps), wanted, deps)
        if (fixed.applied.length === 0) break
        applied += fixed.applied.length
        await workspace.writeText(target.node.path, fixed.source)
      }
      return { applied, ...report((await lintNode(target, deps)).diagnostics) }
    },
  } satisfies Record<string, ExternalFunction>
}

function report(diagnostics: readonly Diagnostic[]) {
  const shown = diagnostics.map(({ code, message, line, column, fix }) => {
    return { code, message, line, column, fixable: fix !== undefined }
  })
  return { total: shown.length, fixable: shown.filter(({ fixable }) => fixable).length, diagnostics: shown }
}
