import type { Node, Tree } from 'web-tree-sitter'
import { directive } from './comment-text.ts'
import {
  commentsAbove,
  type Definition,
  type DefinitionRange,
  type DocLanguage,
  isComment,
  isDirectlyAbove,
  isFirstOnLine,
  nodeAt,
} from './definition.ts'

/** What is in a range, with whether it has a doc comment, above it or within it, and why it should get none. */
export function definitionAt(
  tree: Tree,
  { source, range, language }: { source: string; range: DefinitionRange; language: DocLanguage },
): (Definition & { doc: string | undefined }) | undefined {
  const node = nodeAt(tree, source, range)
  if (node === undefined) return undefined
  const above = commentsAbove(tree, source, range.start)
  const facts = language.read(node, { ...range, source, above })
  if (facts === undefined) return undefined
  const near = above.at(-1)
  const doc = [...leads(node, range.start), ...(near === undefined ? [] : [near])].find((one) =>
    isDocComment(one, { source, index: range.start, language }),
  )
  const inRow = language.form !== '///' && language.style !== 'javadoc' && isInRow(node)
  const exempt =
    commonExemption(node, { source, start: range.start, near }) ??
    facts.exempt ??
    (inRow ? 'is left alone: it is one of several one-line definitions in a row' : undefined)
  return { ...facts, hasDoc: doc !== undefined, doc: doc?.text, exempt }
}

/** Comments in a definition before its own name: between a decorator or an attribute and it. */
function leads(node: Node, start: number): Node[] {
  const found: Node[] = []
  for (let one = node.previousSibling; one !== null && one.startIndex >= start; one = one.previousSibling)
    found.push(one)
  const own = node.children.filter((child) => child !== null)
  const first = own.findIndex(
    (child) => !isComment(child) && !/decorator|modifiers|attribute|annotation/.test(child.type),
  )
  found.push(...own.slice(0, Math.max(0, first)))
  return found.filter(isComment)
}

/** A comment about the whole file, which stands above the first definition. */
const aboutFile =
  /@(?:license|licence|file|fileoverview|module|packageDocumentation|copyright|author)\b|\bcopyright\b|\blicen[sc]ed?\b/i

function isDocComment(
  comment: Node,
  { source, index, language }: { source: string; index: number; language: DocLanguage },
): boolean {
  const { text } = comment
  if (language.form === '/**')
    return /^\/\*\*(?![*/])/.test(text) && !(comment.startIndex < index && aboutFile.test(text))
  if (language.form === '///') return /^(?:\/\/\/(?!\/)|\/\*\*(?![*/]))/.test(text)
  return comment.startIndex > index || (isDirectlyAbove(comment, source, index) && !directive.test(text))
}

function commonExemption(
  node: Node,
  { source, start, near }: { source: string; start: number; near: Node | undefined },
): string | undefined {
  if (node.hasError) return 'is left alone: its source has syntax errors'
  if (!isFirstOnLine(source, start)) return 'is left alone: it shares its line with other code'
  if (near === undefined || !isDirectlyAbove(near, source, start)) return undefined
  return directive.test(near.text.replace(/^[/*#\s]+/, ''))
    ? 'is left alone: a comment for tools stands directly above it'
    : 'is left alone: a comment stands directly above it'
}

/** Whether a definition of one line adjoins another: between them there is no blank line to set a comment apart. */
function isInRow(node: Node): boolean {
  const rows = ({ startPosition, endPosition }: Node) => ({ first: startPosition.row, last: endPosition.row })
  const own = rows(node)
  return [node.previousNamedSibling, node.nextNamedSibling].some((near) => {
    if (near === null || near.type !== node.type || own.first !== own.last) return false
    const { first, last } = rows(near)
    return first === last && Math.abs(first - own.first) === 1
  })
}
