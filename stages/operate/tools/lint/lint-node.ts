import type { LintRules } from '#domain/path-rules.ts'
import { fixableFaults } from '#languages/python/lint/fixable-faults.ts'
import type { Diagnostic } from '#languages/lint/lint-report.ts'
import type { Linter } from '#languages/lint/linter.ts'
import type { Node } from 'web-tree-sitter'
import { isStub } from '#languages/python/python-file.ts'
import type { LoadedLanguage } from '#languages/syntax/parser.ts'
import { nodeExcerpt } from '../shorten.ts'
import type { TargetNode } from '../target-node.ts'
import { isFree, separateFixes, withFixes, type Range } from './text-fixes.ts'

export type LintDeps = { linter: Pick<Linter, 'lint'>; python: LoadedLanguage }

export type NodeLint = { source: string; rules: LintRules; diagnostics: Diagnostic[] }

/**
 * The linter's faults that belong to the node. Those of a file are the ones outside every definition, so that each
 * fault belongs either to a file or to a definition; in other languages than Python a file has all of its faults. Where the plan gave the agent parts of the node, the faults in
 * these parts count. A stub has none. A fault whose fix would remove something that must stay is reported without a
 * fix. TOOL_006 for a file that cannot be linted.
 */
export async function lintNode(target: TargetNode, deps: LintDeps): Promise<NodeLint> {
  const { source, start, end } = await target.locate()
  const { path } = target.node
  const { lint: rules, keptNames, ownModules } = target.rules
  if (isStub(path)) return { source, rules, diagnostics: [] }
  const { own, others } = await target.parts()
  const isFile = target.node.kind === 'file' && own.length === 0 && target.node.language === 'python'
  const holes = isFile ? definitionRanges(source, deps.python) : others
  const parts = own.length === 0 ? [{ start, end }] : own
  const inNode = (range: Range) => isFree(range, holes, parts)
  const report = await deps.linter.lint(source, rules)
  const fixable = new Set(fixableFaults(report.diagnostics, { path, text: source, keptNames, ownModules }, deps.python))
  const diagnostics = report.diagnostics
    .filter(inNode)
    .toSorted((left, right) => left.start - right.start)
    .map((fault) => ({
      ...fault,
      fix: fixable.has(fault) && fault.fix?.every(inNode) === true ? fault.fix : undefined,
    }))
  return { source, rules, diagnostics }
}

/** Makes the fixes of one rule, or all, that do not touch each other. Two may be right alone and wrong together: then half is tried, down to one. */
export async function applyFixes(lint: NodeLint, code: string | undefined, deps: LintDeps) {
  const before = await deps.linter.lint(lint.source, lint.rules)
  let open = separateFixes(lint.diagnostics.filter((fault) => code === undefined || fault.code === code))
  let pass = open
  while (pass.length > 0) {
    const source = withFixes(lint.source, pass)
    const after = await deps.linter.lint(source, lint.rules)
    if (after.syntaxErrors.length <= before.syntaxErrors.length) return { source, applied: pass }
    const [only] = pass
    if (pass.length === 1) open = open.filter((fault) => fault !== only)
    pass = pass.length === 1 ? open : pass.slice(0, Math.ceil(pass.length / 2))
  }
  return { source: lint.source, applied: [] }
}

const quotedCharacters = 160

/** The first `max` faults for a prompt, each with its line quoted, since a node's text has no line numbers. */
export function faultLines({ source, diagnostics }: NodeLint, max = 40): string {
  const sourceLines = source.split(/\r\n|\r|\n/)
  const listed = diagnostics.slice(0, max).map(({ line, column, code, message }) => {
    const quoted = (sourceLines[line - 1] ?? '').trim().slice(0, quotedCharacters).toWellFormed()
    return `- line ${line}, column ${column}: ${code} ${message}${quoted === '' ? '' : `\n  in: ${quoted}`}`
  })
  const more = diagnostics.length > max ? [`- and ${diagnostics.length - max} more; run_linter lists them`] : []
  return [...listed, ...more].join('\n')
}

const contextLines = 3

/** Shows the lines around each fault, under their line numbers; the last parts are left out when they do not fit. */
export function faultContext({ source, diagnostics }: NodeLint, maxCharacters: number): string {
  const lines = source.split('\n')
  const shown = new Set<number>()
  for (const { line } of diagnostics) {
    for (let at = Math.max(1, line - contextLines); at <= Math.min(lines.length, line + contextLines); at++)
      shown.add(at)
  }
  const parts: { first: number; last: number }[] = []
  for (const line of [...shown].toSorted((left, right) => left - right)) {
    const open = parts.at(-1)
    if (open?.last === line - 1) open.last = line
    else parts.push({ first: line, last: line })
  }
  const texts: string[] = []
  let left = maxCharacters
  for (const { first, last } of parts) {
    const part = nodeExcerpt(lines.slice(first - 1, last).join('\n'), { firstLine: first, maxCharacters: left })
    const text = `[lines ${first} to ${last}]\n${part}`
    if (texts.length > 0 && text.length > left) break
    texts.push(text)
    left -= text.length
  }
  const hidden = parts.slice(texts.length)
  if (hidden.length === 0) return texts.join('\n')
  const later = diagnostics.filter(({ line }) => hidden.some(({ first, last }) => line >= first && line <= last)).length
  return [...texts, `[the lines of ${later} more faults are left out]`].join('\n')
}

const definitionTypes = new Set(['function_definition', 'class_definition', 'decorated_definition'])

function definitionRanges(source: string, python: LoadedLanguage): Range[] {
  return python.read(source, (tree) => {
    const definitions: Range[] = []
    const open: Node[] = [tree.rootNode]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (definitionTypes.has(node.type)) definitions.push({ start: node.startIndex, end: node.endIndex })
      // Not push(...children): a hundred thousand elements are too many for an argument list.
      else for (const child of node.namedChildren) if (child !== null) open.push(child)
    }
    return definitions
  })
}
