import type { Node } from 'web-tree-sitter'
import type { PathRules } from '#domain/path-rules.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import { foreignEncoding } from '#python/declared-encoding.ts'
import { codeIn } from '#python/docstring-expression.ts'
import type { PythonLinter } from '#lint/python-linter.ts'
import { docstringContent, findDocstringSite, type DocstringSite } from '#python/docstring-site.ts'

export type InsertedDocstring = { kind: 'inserted'; text: string } | { kind: 'refused'; reason: string }

export type DocstringPlace = {
  source: string
  /** Where the definition starts in `source`, in UTF-16 units, decorators included. */
  index: number
  docstring: string
  rules: PathRules
}

const maxDocstringLength = 4000
const refused = (reason: string): InsertedDocstring => ({ kind: 'refused', reason })

export type DocstringDeps = { python: LoadedLanguage; linter: Pick<PythonLinter, 'lint'> }

/**
 * The source with the docstring in its place: after the definition's colon, at the body's own indentation and line
 * ending. Refuses to replace a docstring, to describe an `@overload`, and any text that would not come back out of the
 * parser as this docstring. TOOL_006 for a source that cannot be linted.
 */
export async function insertDocstring(place: DocstringPlace, deps: DocstringDeps): Promise<InsertedDocstring> {
  const content = normalised(place.docstring)
  const fault = faultOfContent(content) ?? faultOfEncoding(content, place.source)
  if (fault !== undefined) return refused(fault)
  const answer = deps.python.read(place.source, (tree) => {
    const site = findDocstringSite(tree, place.index)
    return site === undefined ? refused('the definition was not found') : insertAt(site, place.source, content)
  })
  if (answer.kind === 'refused') return answer
  const isWhole =
    comesBack(answer.text, place.index, content, deps.python) && (await parsesAsBefore(place, answer, deps))
  return isWhole ? answer : refused('the text would break the file')
}

function insertAt(site: DocstringSite, source: string, content: string): InsertedDocstring {
  if (site.docstring !== undefined) return refused('it already has a docstring, which stays as it is')
  if (site.setsDoc) return refused('the class sets __doc__ by itself')
  if (site.definition.hasError) return refused('its source has syntax errors')
  if (site.decorators.some((name) => /(^|\.)overload$/.test(name))) return refused('an overload has no docstring')
  const newline = source.includes('\r\n') ? '\r\n' : '\n'
  if (site.emptyDocstring !== undefined) {
    const indent = indentationAt(source, site.emptyDocstring.startIndex)
    const { startIndex, endIndex } = site.emptyDocstring
    return replaced(source, startIndex, endIndex, quoted(content, indent, newline))
  }
  const colon = site.definition.children.findLast(
    (child) => child?.type === ':' && child.endIndex <= site.body.startIndex,
  )
  if (colon === undefined || colon === null) return refused('the definition has no body')
  const filler = fillerOf(site)
  if (colon.endPosition.row === site.body.startPosition.row || isContinued(source, colon.endIndex)) {
    const indent = `${indentationAt(source, site.definition.startIndex)}${indentUnit(source)}`
    const docstring = `${newline}${indent}${quoted(content, indent, newline)}`
    return filler === undefined
      ? replaced(source, colon.endIndex, site.body.startIndex, `${docstring}${newline}${indent}`)
      : replaced(source, colon.endIndex, filler.endIndex, docstring)
  }
  const indent = indentationAt(source, site.body.startIndex)
  const docstring = quoted(content, indent, newline)
  if (filler !== undefined) return replaced(source, filler.startIndex, filler.endIndex, docstring)
  const lineEnd = source.indexOf('\n', colon.endIndex) + 1
  const gap = needsBlankLine(site) && !/^[ \t]*\r?\n/.test(source.slice(lineEnd)) ? newline : ''
  return replaced(source, lineEnd, lineEnd, `${indent}${docstring}${newline}${gap}`)
}

function replaced(source: string, start: number, end: number, text: string): InsertedDocstring {
  return { kind: 'inserted', text: source.slice(0, start) + text + source.slice(end) }
}

/** A backslash at the line's end: the body is on the same line as the colon, wherever it stands. */
function isContinued(source: string, from: number): boolean {
  return /^[ \t\f]*\\\r?\n/.test(source.slice(from, from + 200))
}

/** The last guards: what was written must come back as the docstring that was meant, and be Python to another parser. */
function comesBack(text: string, index: number, content: string, python: LoadedLanguage): boolean {
  return python.read(text, (tree) => {
    const site = findDocstringSite(tree, index)
    const back = site?.docstring === undefined ? undefined : normalised(docstringContent(site.docstring))
    return site !== undefined && !site.definition.hasError && back === content
  })
}

async function parsesAsBefore(
  { source, rules }: DocstringPlace,
  { text }: { text: string },
  { linter }: DocstringDeps,
) {
  const [was, now] = [await linter.lint(source, rules.lint), await linter.lint(text, rules.lint)]
  return now.syntaxErrors.length <= was.syntaxErrors.length
}

/** Trailing white space and shared indentation go, as `inspect.cleandoc` does; surrounding quotes of a model too. */
function normalised(raw: string): string {
  const bare = raw.trim().replace(/^[rRuU]?("""|''')([\s\S]*)\1$/, '$2')
  const [first = '', ...rest] = bare.split(/\r\n|\r|\n/).map((line) => line.trimEnd().replaceAll('\t', '    '))
  const margins = rest.filter((line) => line !== '').map((line) => line.length - line.trimStart().length)
  const margin = margins.length === 0 ? 0 : Math.min(...margins)
  return [first.trimStart(), ...rest.map((line) => line.slice(margin))].join('\n').trim()
}

function faultOfContent(content: string): string | undefined {
  if (content === '') return 'the docstring is empty'
  if (content.length > maxDocstringLength) return `the docstring is longer than ${maxDocstringLength} characters`
  if (content.includes('"""')) return 'the docstring contains """'
  // eslint-disable-next-line no-control-regex
  if (/[\0-\x08\x0b-\x1f\x7f]/.test(content)) return 'the docstring contains control characters'
  if (content.endsWith('\\')) return 'the docstring ends with a backslash'
  if (!content.isWellFormed()) return 'the docstring contains half a character'
  return undefined
}

function faultOfEncoding(content: string, source: string): string | undefined {
  const encoding = foreignEncoding(source)
  const isAscii = /^[\0-\x7F]*$/.test(content)
  return encoding === undefined || isAscii ? undefined : `the file declares ${encoding}: the docstring must be ASCII`
}

function quoted(content: string, indent: string, newline: string): string {
  const prefix = content.includes('\\') ? 'r' : ''
  const lines = content.split('\n')
  if (lines.length === 1 && !content.endsWith('"')) return `${prefix}"""${content}"""`
  const indented = lines.map((line, at) => (at === 0 || line === '' ? line : indent + line))
  return `${prefix}"""${indented.join(newline)}${newline}${indent}"""`
}

function indentationAt(source: string, index: number): string {
  const line = source.slice(source.lastIndexOf('\n', index - 1) + 1, index)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

/** One level of the file's own indentation: that of its first indented line, else four spaces. */
function indentUnit(source: string): string {
  return /\n(\t|[ ]{2,8})\S/.exec(source)?.[1] ?? '    '
}

/** A `pass` or `...` that is all there is in the body: the docstring takes its place, comments stay. */
function fillerOf(site: DocstringSite): Node | undefined {
  const statements = codeIn(site.body)
  const [only] = statements
  return statements.length === 1 && ['pass', '...'].includes(only?.text ?? '') ? only : undefined
}

/** A class keeps a blank line between its docstring and its body; a function only before a nested definition. */
function needsBlankLine(site: DocstringSite): boolean {
  const first = site.body.namedChildren[0]?.type ?? ''
  return site.kind === 'class' || ['function_definition', 'class_definition', 'decorated_definition'].includes(first)
}
