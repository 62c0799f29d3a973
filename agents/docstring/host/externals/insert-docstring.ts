import type { Node, Tree } from 'web-tree-sitter'
import type { DocstringStyle, PathRules, TextStyle } from '#domain/path-rules.ts'
import { lineEndOf } from '#languages/comments/doc-comments.ts'
import { readChangedPart } from '#languages/python/changed-part.ts'
import { bodySharesLine, exemptionOf, isCommented } from '#languages/python/docstring-exemption.ts'
import { parameterFault } from '#languages/python/docstring-parameters.ts'
import { codeIn } from '#languages/python/python-nodes.ts'
import { docstringContent, findDocstringSite, type DocstringSite } from '#languages/python/docstring-site.ts'
import type { LintDeps } from '#stages/operate/tools/lint/lint-node.ts'
import {
  docstringRoom,
  faultOfContent,
  faultOfEncoding,
  faultOfMeaning,
  faultOfStyle,
  fitDocstring,
  normalised,
  prefixOf,
  quoted,
} from './docstring-text.ts'

type InsertedDocstring = { kind: 'inserted'; text: string } | { kind: 'refused'; reason: string }

type DocstringPlace = {
  source: string
  /** Points at the definition's start in `source`, in UTF-16 units, decorators included. */
  index: number
  docstring: string
  style?: DocstringStyle | undefined
  rules: PathRules
}

const refused = (reason: string): InsertedDocstring => ({ kind: 'refused', reason })

/**
 * Inserts the docstring after the definition's colon, with the body's indentation and line ending and the quotes and
 * line length of the file's rules. Refuses to replace a docstring, a text in another style or too long to fit, what the
 * repository's linter objects to, and a text that the parser would not read back as this docstring. TOOL_006 for a
 * source that cannot be linted.
 */
export async function insertDocstring(given: DocstringPlace, deps: LintDeps): Promise<InsertedDocstring> {
  const { text } = given.rules
  const style = given.style ?? text.docstringStyle
  const wanted = { ...given, docstring: withReturnField(given.docstring, style, text) }
  const content = normalised(wanted.docstring)
  const fault =
    faultOfContent(content, text.docstringQuotes) ??
    faultOfEncoding(content, wanted.source) ??
    faultOfStyle(content, style)
  if (fault !== undefined) return refused(fault)
  return writtenWithoutObjection(wanted, { content, style, filler: 'kept', text }, deps)
}

/** Sphinx accepts `:return:` and `:returns:`; a repository uses one of them. */
function withReturnField(content: string, style: DocstringStyle, { docstringReturnField: field }: TextStyle): string {
  if (style !== 'sphinx' || field === undefined) return content
  return content.replaceAll(/^([ \t]*):returns?:/gm, `$1:${field}:`)
}

type Wording = { content: string; style: DocstringStyle; filler: 'kept' | 'replaced'; text: TextStyle }

/** Rules that ask for the other of two forms: the repository's own docstrings may not show which one it uses. */
const otherForms: Readonly<Record<string, (wording: Wording) => Wording>> = {
  D204: (wording) => ({ ...wording, text: { ...wording.text, gapAfterClassDocstring: true } }),
  D212: (wording) => ({ ...wording, text: { ...wording.text, docstringSummary: 'first_line' } }),
  D213: (wording) => ({ ...wording, text: { ...wording.text, docstringSummary: 'second_line' } }),
  // No placeholder next to a docstring: a lone `...` is replaced, as `pass` is.
  PIE790: (wording) => ({ ...wording, filler: 'replaced' }),
}

async function writtenWithoutObjection(given: DocstringPlace, wording: Wording, deps: LintDeps) {
  let tried = wording
  for (let left = Object.keys(otherForms).length; ; left--) {
    const written = write(given, tried, deps)
    if (written.kind === 'refused') return written
    const objection = await objectionTo(written.text, given, deps)
    if (objection === undefined) return written
    const other = otherForms[objection.code]
    if (other === undefined || left === 0) return refused(objection.reason)
    tried = other(tried)
  }
}

function write(given: DocstringPlace, { content, style, filler, text }: Wording, { python }: LintDeps) {
  const { source, index } = given
  const answer = python.read(source, (tree) => {
    const site = findDocstringSite(tree, index)
    if (site === undefined) return refused('the definition was not found')
    if (site.docstring !== undefined) return refused('it already has a docstring, which stays as it is')
    const exemption = exemptionOf(site)
    if (exemption !== undefined) return refused(`the definition ${exemption}`)
    const { definition } = site
    const name = definition.childForFieldName('name')?.text ?? ''
    const empty = faultOfMeaning(content, { name, code: definition.text })
    if (empty !== undefined) return refused(empty)
    const mismatch = parameterFault(site, content)
    if (mismatch !== undefined) return refused(mismatch)
    const room = docstringRoom(docstringIndent(site, source, text), text, prefixOf(content))
    const fitted = fitDocstring(content, style, room)
    if (fitted.kind === 'too_long') return refused(fitted.reason)
    return insertAt(site, { source, content: fitted.content, text, filler: fillerOf(site, filler) })
  })
  const isWhole = answer.kind === 'refused' || readsBack(answer.text, given, python)
  return isWhole ? answer : refused('the text would break the file')
}

/** The indentation that the docstring of a definition has, or would have. */
export function docstringIndent(site: DocstringSite, source: string, text: Pick<TextStyle, 'indent'>): string {
  if (isOnColonLine(site, source)) {
    return `${indentationAt(source, site.definition.startIndex)}${text.indent ?? indentUnit(site, source)}`
  }
  return indentationAt(source, site.body.startIndex)
}

type Insertion = { source: string; content: string; text: TextStyle; filler: Node | undefined }

function insertAt(site: DocstringSite, { source, content, text, filler }: Insertion): InsertedDocstring {
  const newline = lineEndOf(source, (colonOf(site) ?? site.body).startIndex)
  const indent = docstringIndent(site, source, text)
  const docstring = quoted(content, { indent, newline, text })
  if (site.emptyDocstring !== undefined) {
    const { startIndex, endIndex } = site.emptyDocstring
    return replaced(source, startIndex, endIndex, docstring)
  }
  const colon = colonOf(site)
  if (colon === undefined) return refused('the definition has no body')
  if (isOnColonLine(site, source)) {
    const line = `${newline}${indent}${docstring}`
    return filler === undefined
      ? replaced(source, colon.endIndex, site.body.startIndex, `${line}${newline}${indent}`)
      : replaced(source, colon.endIndex, filler.endIndex, line)
  }
  if (filler !== undefined) return replaced(source, filler.startIndex, filler.endIndex, docstring)
  const lineEnd = source.indexOf('\n', colon.endIndex) + 1
  const blank = /^(?:[ \t]*\r?\n)*/.exec(source.slice(lineEnd))?.[0] ?? ''
  const gap = gapAfter(site, text)
  if (gap === 'none') return replaced(source, lineEnd, lineEnd + blank.length, `${indent}${docstring}${newline}`)
  const added = gap === 'one' && blank === '' ? newline : ''
  return replaced(source, lineEnd, lineEnd, `${indent}${docstring}${newline}${added}`)
}

function replaced(source: string, start: number, end: number, text: string): InsertedDocstring {
  return { kind: 'inserted', text: source.slice(0, start) + text + source.slice(end) }
}

function colonOf({ definition, body }: DocstringSite): Node | undefined {
  return definition.children.findLast((child) => child?.type === ':' && child.endIndex <= body.startIndex) ?? undefined
}

/** Tells whether the body begins on the line of the colon, which may be continued by a backslash. */
function isOnColonLine(site: DocstringSite, source: string): boolean {
  const colon = colonOf(site)
  return bodySharesLine(site) || (colon !== undefined && /^[ \t\f]*\\\r?\n/.test(source.slice(colon.endIndex)))
}

function readsBack(text: string, { source, index, docstring }: DocstringPlace, python: LintDeps['python']): boolean {
  const words = (content: string) => normalised(content).split(/\s+/).join(' ')
  const isThere = (tree: Tree) => {
    const site = findDocstringSite(tree, index)
    if (site?.docstring === undefined || site.definition.hasError) return false
    return words(docstringContent(site.docstring)) === words(docstring)
  }
  return readChangedPart(python, [source, text], ({ tree }) => isThere(tree)) ?? python.read(text, isThere)
}

/** Rules about docstrings and text form. What other rules find does not depend on the wording. */
const textRules = /^(?:D\d|DOC\d|E501$|W505$|W29\d|W605$|RUF00[123]$|PIE790$)/

async function objectionTo(text: string, { source, rules }: DocstringPlace, { linter }: LintDeps) {
  const [was, now] = [await linter.lint(source, rules.lint), await linter.lint(text, rules.lint)]
  if (now.syntaxErrors.length > was.syntaxErrors.length) return { code: '', reason: 'the text would break the file' }
  const before = Map.groupBy(was.diagnostics, ({ code }) => code)
  const fresh = now.diagnostics.find(({ code }) => textRules.test(code) && before.get(code)?.pop() === undefined)
  if (fresh === undefined) return undefined
  const { code, message } = fresh
  return { code, reason: `the repository's own linter (${rules.lint.source}) objects: ${code} ${message}` }
}

/** The white space that Python counts as the indentation of the line: what stands before a form feed is not counted. */
export function indentationAt(source: string, index: number): string {
  const line = source.slice(source.lastIndexOf('\n', index - 1) + 1, index)
  return /^(?:[ \t]*\f)*([ \t]*)/.exec(line)?.[1] ?? ''
}

/** Returns one level of indentation: the enclosing class's, else the first body's of the file, else four spaces. Strings are indented freely. */
function indentUnit({ definition }: DocstringSite, source: string): string {
  const around = definition.parent?.type === 'decorated_definition' ? definition.parent.parent : definition.parent
  const blocks = [...(around?.type === 'block' ? [around] : []), ...definition.tree.rootNode.descendantsOfType('block')]
  for (const block of blocks) {
    const owner = block?.parent
    if (block === null || owner === null || owner === undefined) continue
    const [outer, inner] = [indentationAt(source, owner.startIndex), indentationAt(source, block.startIndex)]
    if (inner.length > outer.length && inner.startsWith(outer)) return inner.slice(outer.length)
  }
  return '    '
}

/** A `pass` that is the whole body, without a comment: the docstring replaces it. A `...` only on demand. */
function fillerOf({ definition, body }: DocstringSite, ellipsis: Wording['filler']): Node | undefined {
  const [only, ...more] = codeIn(body)
  const isFiller = only?.type === 'pass_statement' || (only?.text === '...' && ellipsis === 'replaced')
  if (only === undefined || !isFiller || more.length > 0) return undefined
  return isCommented(definition) ? undefined : only
}

/** An empty line separates a class's docstring from its body; in a function, only before a nested definition. */
function gapAfter(site: DocstringSite, { gapAfterClassDocstring: isWanted = true }: TextStyle): 'one' | 'any' | 'none' {
  const first = site.body.namedChildren[0]?.type ?? ''
  const isNested = ['function_definition', 'class_definition', 'decorated_definition'].includes(first)
  if (site.kind === 'class') return isWanted ? 'one' : 'any'
  return isNested ? 'one' : 'none'
}
