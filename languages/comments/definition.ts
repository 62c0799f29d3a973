import type { Node, Tree } from 'web-tree-sitter'

/** `name` is undefined for a pattern without one (`{ a, b }`), which may be documented under any name. */
export type DocumentedParameter = {
  name: string | undefined
  type: string | null
  default: string | null
  isRest: boolean
}

export type Definition = {
  name: string
  kind: 'function' | 'type'
  parameters: DocumentedParameter[]
  typeParameters: string[]
  /** The declared type of its result, without the mark before it. */
  returns: string | null
  /** `unknown` where neither its type nor its body shows it. */
  returnsValue: 'yes' | 'no' | 'unknown'
  yields: boolean
  throws: string[]
  isProperty?: boolean
  visibility: 'public' | 'private'
  hasDoc: boolean
  /** Says why it gets no doc comment, in words that follow its name. */
  exempt?: string | undefined
}

/** A range of a text in UTF-16 units, as code nodes have it: with decorators and attributes, without comments after it. */
export type DefinitionRange = { start: number; end: number }

/** Reads a definition of one language from its outermost node; undefined for anything that gets no doc comment. */
export type DefinitionReader = (node: Node, place: DefinitionPlace) => Omit<Definition, 'hasDoc'> | undefined

export type DefinitionPlace = DefinitionRange & {
  source: string
  /** Comments above it, without code between, the nearest last. */
  above: readonly Node[]
  /** Its doc comment is written here: above the instructions for tools that end one (`DocLanguage.directive`). */
  top: number
}

export type DocLanguage = {
  style: 'tsdoc' | 'jsdoc' | 'godoc' | 'rustdoc' | 'javadoc'
  /** Begins a comment: the mark of a block, or one that stands on each line. */
  form: '/**' | '///' | '//'
  lineLength: number
  tags: readonly string[]
  read: DefinitionReader
  /** Comments that tools obey in this language alone. They are the end of a doc comment, after an empty line of it. */
  directive?: RegExp
  /** Escapes what the style's tools would misread. */
  escaped?(content: string): string
  faultOf?(content: string, name: string): string | undefined
}

/** The outermost node within the range that has its end; a comment may follow in the node. Undefined where no node has. */
export function nodeAt({ rootNode }: Tree, source: string, { start, end }: DefinitionRange): Node | undefined {
  let found: Node | undefined
  for (let node = rootNode.descendantForIndex(Math.max(start, end - 1), end); node !== null; node = node.parent) {
    const isOutside = node.id === rootNode.id || node.startIndex < start
    if (isOutside || (node.endIndex > end && !isCommentText(source.slice(end, node.endIndex)))) break
    if (node.endIndex >= end) found = node
  }
  return found
}

/** Is true when a text has nothing but comments. One of 2,000 characters or more is not searched for them, and counts as code. */
function isCommentText(text: string): boolean {
  return text.length < 2000 && /^(?:\s|\/\/[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*$/.test(text)
}

/** The comments above an index, in order, with nothing but blank between them and it. */
export function commentsAbove({ rootNode }: Tree, source: string, index: number): Node[] {
  const found: Node[] = []
  for (let at = index; ;) {
    const last = endOfCodeBefore(source, at)
    const node = last === 0 ? null : rootNode.descendantForIndex(last - 1, last)
    const comment = node === null ? undefined : commentAround(node)
    // One behind code on its line belongs to that.
    if (comment === undefined || !isFirstOnLine(source, comment.startIndex)) return found
    found.unshift(comment)
    at = comment.startIndex
  }
}

function endOfCodeBefore(source: string, index: number): number {
  let end = index
  while (end > 0 && /\s/.test(source.charAt(end - 1))) end--
  return end
}

/** Grammars call their comments `comment`, `line_comment`, `block_comment` … */
export function isComment({ type }: Node): boolean {
  return /(?:^|_)comment$/.test(type)
}

function commentAround(node: Node): Node | undefined {
  let found: Node | undefined
  for (let one: Node | null = node; one !== null; one = one.parent) if (isComment(one)) found = one
  return found
}

export function isFirstOnLine(source: string, index: number): boolean {
  return /(?:^|[\n\r\uFEFF])[ \t\f]*$/.test(source.slice(Math.max(0, index - 400), index))
}

/** White space before an index on its line. */
export function indentBefore(source: string, index: number): string {
  return /[ \t]*$/.exec(source.slice(Math.max(0, index - 400), index))?.[0] ?? ''
}

/** Is true when a comment ends on the line before `index`, or on the same. */
export function isDirectlyAbove(comment: Node, source: string, index: number): boolean {
  const between = source.slice(comment.startIndex + comment.text.trimEnd().length, index)
  return (between.match(/\n/g) ?? []).length < 2
}

export function childrenOf(node: Node): Node[] {
  return node.children.filter((child) => child !== null)
}

export function namedChildrenOf(node: Node | null | undefined): Node[] {
  return (node?.namedChildren ?? [])
    .filter((child) => child !== null && !isComment(child))
    .filter((one) => one !== null)
}

/** The nodes of a body, without those of the functions and classes in it (`isInner`). */
export function ownNodes(body: Node, isInner: (node: Node) => boolean): Node[] {
  const found: Node[] = []
  const open: Node[] = [body]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    found.push(node)
    if (node.id !== body.id && isInner(node)) continue
    for (const child of namedChildrenOf(node).toReversed()) open.push(child)
  }
  return found
}

export function distinct(names: readonly string[]): string[] {
  return [...new Set(names)]
}
