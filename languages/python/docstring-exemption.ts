import type { Node } from 'web-tree-sitter'
import { codeIn, docstringOf, firstCodeIn } from './python-nodes.ts'
import { outermost, type DocstringSite } from './docstring-site.ts'

/**
 * Says why no docstring should be written for a definition, judged by its own source, in words that follow its name:
 * `needs no docstring: …` when another place has it, `is left alone: …` when one could do harm. Undefined for all others.
 */
export function exemptionOf(site: DocstringSite): string | undefined {
  const decorators = site.decorators.map((text) => text.replace(/\(.*$/s, '').trim())
  const last = decorators.map((text) => text.split('.').at(-1) ?? '')
  if (site.definition.hasError) return 'is left alone: its source has syntax errors'
  if (last.includes('overload')) return 'needs no docstring: it is an overload, which its implementation describes'
  if (last.includes('override')) return 'needs no docstring: it inherits that of the method it overrides'
  if (last.includes('wraps')) return 'needs no docstring: functools.wraps gives it that of another function'
  const isAccessor = decorators.some((text) => /^\w+\.(setter|deleter|getter)$/.test(text))
  if (waivesDocstring(site)) return 'is left alone: a comment says that it needs none'
  if (isAccessor) return 'needs no docstring: it is the setter or deleter of a property'
  if (site.setsDoc) return 'is left alone: the class sets __doc__ by itself'
  if (hasTextBelowAttributes(site)) {
    return 'is left alone: the text below its first attributes may be meant as its docstring'
  }
  if (isEllipsis(site) && isInProtocol(site.definition)) return 'needs no docstring: it is a stub of a protocol'
  const isAbstract = site.decorators.some((text) => /\babstract\w*/.test(text))
  if (isEllipsis(site) && isAbstract) return 'needs no docstring: it is an abstract stub'
  if (isEllipsis(site) && bodySharesLine(site)) return 'needs no docstring: it is declared on one line, without a body'
  if (bodySharesLine(site) && hasCommentOn(site.definition, site.body.startPosition.row)) {
    return 'is left alone: its body shares its line with a comment'
  }
  if (hasSignatureComment(site)) return 'is left alone: a type comment stands where its docstring would'
  // The pass must stay for its comment, but linters report a pass next to a docstring as unnecessary (PIE790).
  if (isOnly(site.body, ({ type }) => type === 'pass_statement') && isCommented(site.definition))
    return 'is left alone: its body is a pass with a comment'
  return undefined
}

/** Matches comments with pydocstyle's codes for a missing docstring, or a prefix of them, or with pylint's, or in words. */
const missingDocstring =
  /#[^#\n]*\b(?:no|not|without)(?:\s+an?)?\s+doc-?string|#\s*noqa\s*:[^#\n]*\bD(?:1(?:0\d?)?)?\b|#\s*pylint\s*:\s*disable\s*=[^#\n]*\b(?:missing-(?:\w+-)?docstring|C011[0-6])\b/i

/** Is true for a lone string, or one below `__slots__`, likely written for the class; else a string below an attribute describes that (PEP 224). */
function hasTextBelowAttributes({ kind, body }: DocstringSite): boolean {
  if (kind !== 'class') return false
  const statements = codeIn(body)
  const [first = 0, ...more] = statements.flatMap((node, at) => (at > 0 && docstringOf(node) !== undefined ? at : []))
  const attributes = statements.slice(0, first).map(({ namedChildren: [assigned] }) => assigned)
  if (!attributes.every((attribute) => attribute?.type === 'assignment')) return false
  return attributes.length > 0 && (more.length === 0 || attributes.at(-1)?.text.startsWith('_') === true)
}

/** Is true with a comment that linters would report as unused once there is a docstring. */
function waivesDocstring(site: DocstringSite): boolean {
  const { definition, body } = site
  const isOneLine = bodySharesLine(site)
  if (!isOneLine && !headOf(site).includes('#')) return false
  const header = definition.children.filter((child) => child.endIndex <= body.startIndex)
  const parts = isOneLine ? [definition, commentBehind(definition)] : header
  return parts.some((part) => missingDocstring.test(part?.text ?? ''))
}

const fileWideNoqa = /^[ \t]*#\s*(?:ruff|flake8)\s*:\s*noqa\s*:([^#\n]*)/gim
const codesByKind = { class: /^D(?:1(?:01?)?)?$/, method: /^D(?:1(?:02?)?)?$/, function: /^D(?:1(?:03?)?)?$/ }

export function waivedKinds(source: string): (keyof typeof codesByKind)[] {
  const codes = [...source.matchAll(fileWideNoqa)].flatMap(
    ([, listed = '']) => listed.toUpperCase().match(/\w+/g) ?? [],
  )
  return (['class', 'method', 'function'] as const).filter((kind) => codes.some((code) => codesByKind[kind].test(code)))
}

/** Is true when a one-line definition adjoins another: a docstring would need blank lines there. */
export function isInRow(site: DocstringSite): boolean {
  if (!bodySharesLine(site)) return false
  const { whole } = site
  const { previousNamedSibling: above, nextNamedSibling: below } = whole
  const isDefinition = (node: Node) => node.type.endsWith('_definition')
  const followsAbove = above !== null && isDefinition(above) && above.endPosition.row + 1 === whole.startPosition.row
  const followsBelow = below !== null && isDefinition(below) && whole.endPosition.row + 1 === below.startPosition.row
  return followsAbove || followsBelow
}

/** A search through a large tree is slow, and most definitions have none. */
function commentsIn(definition: Node): Node[] {
  return definition.text.includes('#') ? definition.descendantsOfType('comment') : []
}

/** Is true with `# type: (int) -> str`, which must directly follow the line of the `def`. */
function hasSignatureComment({ definition }: DocstringSite): boolean {
  const isWritten = /#\s*type:\s*\(/.test(definition.text)
  return isWritten && commentsIn(definition).some(({ text }) => /^#\s*type:\s*\(/.test(text))
}

export function isCommented(definition: Node): boolean {
  return commentsIn(definition).length > 0 || commentBehind(definition) !== undefined
}

export function bodySharesLine(site: DocstringSite): boolean {
  const head = headOf(site)
  return head.slice(head.lastIndexOf('\n') + 1).trim() !== ''
}

/** Returns what stands before the body, with the blanks of its line: to ask the parser for these nodes takes longer. */
function headOf({ definition, body }: DocstringSite): string {
  return definition.text.slice(0, body.startIndex - definition.startIndex)
}

function isEllipsis({ body }: DocstringSite): boolean {
  return isOnly(body, ({ text }) => text === '...')
}

function isOnly(body: Node, isMeant: (statement: Node) => boolean): boolean {
  const first = firstCodeIn(body)
  return first !== undefined && isMeant(first) && codeIn(body).length === 1
}

function isInProtocol(definition: Node): boolean {
  const outer = outermost(definition).parent?.parent
  const isClass = outer?.type === 'class_definition'
  return isClass && /\bProtocol\b/.test(outer.childForFieldName('superclasses')?.text ?? '')
}

function hasCommentOn(definition: Node, row: number): boolean {
  const inside = commentsIn(definition).some((comment) => comment.startPosition.row === row)
  return inside || commentBehind(definition) !== undefined
}

/** Returns the comment that follows on the definition's last line. In the tree it is outside the definition. */
function commentBehind(definition: Node): Node | undefined {
  let node: Node | null = definition
  while (node !== null && node.nextSibling === null) node = node.parent
  const next = node?.nextSibling
  return next?.type === 'comment' && next.startPosition.row === definition.endPosition.row ? next : undefined
}
