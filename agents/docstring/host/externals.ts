import { undefinedOn } from '#domain/error.ts'
import { DocstringStyle, isGoRules, type TextStyle } from '#domain/path-rules.ts'
import { type DocstringSite, findDocstringSite } from '#languages/python/docstring-site.ts'
import { isStub } from '#languages/python/python-file.ts'
import { type Workspace, refusal } from '#stages/operate/workspace/open-workspace.ts'
import { describeDefinition } from '#stages/operate/tools/externals/describe-definition.ts'
import { docstringRoom } from './externals/docstring-text.ts'
import { docstringIndent, indentationAt, insertDocstring } from './externals/insert-docstring.ts'
import type { SyntaxChecker } from '#stages/operate/evidence/syntax-evidence.ts'
import type { LocatedNode, TargetNode } from '#stages/operate/tools/target-node.ts'
import { text } from '#stages/operate/tools/externals/external-arguments.ts'
import type { ExternalFunction } from '#tool-scripts/script-call.ts'
import type { LintDeps } from '#stages/operate/tools/lint/lint-node.ts'
import { withFixes } from '#stages/operate/tools/lint/text-fixes.ts'

export type DocstringDeps = LintDeps & { syntax: Pick<SyntaxChecker, 'describe' | 'insert'> }

/** `describe_definition` and `insert_docstring` on the attempt's node; in other languages than Python a docstring is a doc comment. */
export function docstringExternals(workspace: Workspace, target: TargetNode, deps: DocstringDeps) {
  const isPython = () => target.node.language === 'python'
  const docPlace = ({ source, start, end }: LocatedNode) => {
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
      const facts = isPython() ? inPython() : await deps.syntax.describe(docPlace(located))
      if (facts === undefined) throw refusal('the node is no function or class')
      return { ...facts, path: target.node.path, qualified_name: target.node.qualifiedName, kind: target.node.kind }
    },
    async insert_docstring([docstring, style]) {
      const located = await target.locate()
      const { source, start } = located
      if (isStub(target.node.path)) throw refusal('a stub file holds no docstrings')
      const wanted = { docstring: text(docstring, 'docstring'), style: styleNamed(style) }
      const answer = isPython()
        ? await insertDocstring({ source, index: start, ...wanted, rules: target.rules }, deps)
        : await deps.syntax.insert(docPlace(located), wanted.docstring)
      if (answer.kind === 'refused') throw refusal(answer.reason)
      const written = await formattedAt(start, { source, written: answer.text }, target, deps)
      await workspace.writeText(target.node.path, written)
      return { path: target.node.path, name: target.node.name, characters: written.length - source.length }
    },
  } satisfies Record<string, ExternalFunction>
}

type Written = { source: string; written: string }

/** Writes what is at `start` as gofmt does, where Go is linted: gofmt formats the lists and code in doc comments, too. */
async function formattedAt(start: number, { source, written }: Written, target: TargetNode, deps: LintDeps) {
  const { lint: rules } = target.rules
  if (!isGoRules(rules)) return written
  const end = start + written.length - source.length
  // A worker without gofmt writes the text all the same: its evidence says what could not be checked.
  const { diagnostics = [] } = (await deps.linter.lint(written, rules).catch(undefinedOn('TOOL_006'))) ?? {}
  return withFixes(
    written,
    diagnostics.filter((diagnostic) => start <= diagnostic.start && diagnostic.end <= end),
  )
}

/** Returns undefined, for the style of the repository, when `style` is `auto` or missing. */
function styleNamed(style: unknown): DocstringStyle | undefined {
  if (style === undefined || style === null || style === 'auto') return undefined
  const named = DocstringStyle.safeParse(style)
  if (named.success) return named.data
  const choices = 'auto, google, numpy, sphinx or plain'
  throw refusal(`style must be ${choices}, got: ${JSON.stringify(style)}`)
}

function docstringForm(site: DocstringSite, source: string, style: TextStyle) {
  const indent = docstringIndent(site, source, style)
  const room = docstringRoom(indent, style)
  return {
    style: style.docstringStyle,
    types: style.docstringTypes ?? true,
    summary_characters: room.single,
    line_characters: room.line,
    indent: indent.slice(indentationAt(source, site.definition.startIndex).length) || '    ',
  }
}
