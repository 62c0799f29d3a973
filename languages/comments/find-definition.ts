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

export type FoundDefinition = Definition & { doc: string | undefined; top: number }

/** Finds what is in a range, and says whether it has a doc comment, where one is written, and why it should get none. */
export function definitionAt(
  tree: Tree,
  { source, range, language }: { source: string; range: DefinitionRange; language: DocLanguage },
): FoundDefinition | undefined {
  const node = nodeAt(tree, source, range)
  if (node === undefined) return undefined
  const above = commentsAbove(tree, source, range.start).filter((comment) => !isOfModule(comment, language))
  const { top, near } = aboveDirectives(above, { source, index: range.start, language })
  const facts = language.read(node, { ...range, source, above, top })
  if (facts === undefined) return undefined
  const own = nearestFor(above, { source, index: range.start, language })
  const doc = [leads(node, range.start), own?.comment ?? []]
    .flat()
    .find((comment) => isDocComment(comment, { source, index: own?.index ?? range.start, language }))
  const inRow = language.form !== '///' && language.style !== 'javadoc' && isInRow(node)
  const exempt =
    commonExemption(node, { source, start: range.start, top, near, language }) ??
    facts.exempt ??
    (inRow ? 'is left alone: it is one of several one-line definitions in a row' : undefined)
  return { ...facts, hasDoc: doc !== undefined, doc: doc?.text, exempt, top }
}

function leads(node: Node, start: number): Node[] {
  const before: Node[] = []
  for (let above = node.previousSibling; above !== null && above.startIndex >= start; above = above.previousSibling)
    before.push(above)
  const isLead = (child: Node) => isComment(child) || /decorator|modifiers|attribute|annotation/.test(child.type)
  const first = node.children.findIndex((child) => !isLead(child))
  return [...before, ...node.children.slice(0, Math.max(0, first))].filter(isComment)
}

/** Is true for Rust's `//!`, which is about what it stands in. */
function isOfModule({ text }: Node, { form }: DocLanguage): boolean {
  return form === '///' && /^\/[/*]!/.test(text)
}

type Place = { source: string; index: number; language: DocLanguage }

/** Returns the nearest comment that is no directive, and the index below it: directives may stand between a doc comment and its code. */
function nearestFor(above: readonly Node[], { source, index, language }: Place) {
  let at = index
  for (const comment of above.toReversed()) {
    const isPassed = isForTools(comment, language) && isDirectlyAbove(comment, source, at)
    if (!isPassed) return { comment, index: at }
    at = comment.startIndex
  }
  return undefined
}

/** Returns the index above the directives of the language that stand directly above a definition, and the comment above that. */
function aboveDirectives(above: readonly Node[], { source, index, language }: Place) {
  let top = index
  for (const comment of above.toReversed()) {
    const isDirective = language.directive?.test(comment.text) === true && isDirectlyAbove(comment, source, top)
    if (!isDirective) return { top, near: comment }
    top = comment.startIndex
  }
  return { top, near: undefined }
}

function isForTools({ text }: Node, language: DocLanguage): boolean {
  return directive.test(text) || language.directive?.test(text) === true
}

const aboutFile =
  /@(?:license|licence|file|fileoverview|module|packageDocumentation|copyright|author)\b|\bcopyright\b|\blicen[sc]ed?\b/i

function isDocComment(comment: Node, { source, index, language }: Place): boolean {
  const { text } = comment
  if (language.form === '/**')
    return /^\/\*\*(?![*/])/.test(text) && !(comment.startIndex < index && aboutFile.test(text))
  if (language.form === '///') return /^(?:\/\/\/(?!\/)|\/\*\*(?![*/]))/.test(text)
  return comment.startIndex > index || (isDirectlyAbove(comment, source, index) && !isForTools(comment, language))
}

type Exempting = { source: string; start: number; top: number; near: Node | undefined; language: DocLanguage }

function commonExemption(node: Node, { source, start, top, near, language }: Exempting): string | undefined {
  if (node.hasError) return 'is left alone: its source has syntax errors'
  if (!isFirstOnLine(source, start)) return 'is left alone: it shares its line with other code'
  if (near === undefined || !isDirectlyAbove(near, source, top)) return undefined
  return isForTools(near, language)
    ? 'is left alone: a comment for tools stands directly above it'
    : 'is left alone: a comment stands directly above it'
}

/** Is true when a definition of one line adjoins another: no blank line between them sets a comment apart. */
function isInRow(node: Node): boolean {
  const rows = ({ startPosition, endPosition }: Node) => ({ first: startPosition.row, last: endPosition.row })
  const own = rows(node)
  return [node.previousNamedSibling, node.nextNamedSibling].some((near) => {
    if (near === null || near.type !== node.type || own.first !== own.last) return false
    const { first, last } = rows(near)
    return first === last && Math.abs(first - own.first) === 1
  })
}
