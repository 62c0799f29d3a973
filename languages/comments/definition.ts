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
  /** Are the comments above it, without code between, the nearest last. */
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
  /** Matches comments that tools obey in this language alone. They are the end of a doc comment, after an empty line of it. */
  directive?: RegExp
  /** Escapes what the style's tools would misread. */
  escaped?(content: string): string
  faultOf?(content: string, name: string): string | undefined
}

/** Finds the outermost node within the range that has its end; a comment may follow in the node. */
export function nodeAt({ rootNode }: Tree, source: string, { start, end }: DefinitionRange): Node | undefined {
  let outermost: Node | undefined
  for (let node = rootNode.descendantForIndex(Math.max(start, end - 1), end); node !== null; node = node.parent) {
    const isOutside = node.id === rootNode.id || node.startIndex < start
    if (isOutside || (node.endIndex > end && !isCommentText(source.slice(end, node.endIndex)))) break
    if (node.endIndex >= end) outermost = node
  }
  return outermost
}

/** Is true when a text has nothing but comments. One of 2,000 characters or more is not searched for them, and counts as code. */
function isCommentText(text: string): boolean {
  return text.length < 2000 && /^(?:\s|\/\/[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*$/.test(text)
}

/** Returns the comments above an index, in order, with nothing but blank between them and it. */
export function commentsAbove({ rootNode }: Tree, source: string, index: number): Node[] {
  const comments: Node[] = []
  for (let at = index; ;) {
    while (at > 0 && /\s/.test(source.charAt(at - 1))) at--
    const comment = at === 0 ? undefined : commentAround(rootNode.descendantForIndex(at - 1, at))
    // One behind code on its line belongs to that.
    if (comment === undefined || !isFirstOnLine(source, comment.startIndex)) return comments
    comments.unshift(comment)
    at = comment.startIndex
  }
}

/** Is true for what grammars call `comment`, `line_comment`, `block_comment` … */
export function isComment({ type }: Node): boolean {
  return /(?:^|_)comment$/.test(type)
}

function commentAround(inner: Node | null): Node | undefined {
  let comment: Node | undefined
  for (let node = inner; node !== null; node = node.parent) if (isComment(node)) comment = node
  return comment
}

export function isFirstOnLine(source: string, index: number): boolean {
  return /(?:^|[\n\r\uFEFF])[ \t\f]*$/.test(source.slice(Math.max(0, index - 400), index))
}

export function indentBefore(source: string, index: number): string {
  return /[ \t]*$/.exec(source.slice(Math.max(0, index - 400), index))?.[0] ?? ''
}

/** Is true when a comment ends on the line before `index`, or on the same. */
export function isDirectlyAbove(comment: Node, source: string, index: number): boolean {
  const between = source.slice(comment.startIndex + comment.text.trimEnd().length, index)
  return (between.match(/\n/g) ?? []).length < 2
}

/** Returns the named children without comments; none where there is no node. */
export function namedChildrenOf(node: Node | null | undefined): Node[] {
  return (node?.namedChildren ?? []).filter((child) => !isComment(child))
}

/** Returns the nodes of a body, without those of the functions and classes in it (`isInner`). */
export function ownNodes(body: Node, isInner: (node: Node) => boolean): Node[] {
  const nodes: Node[] = []
  const open: Node[] = [body]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    nodes.push(node)
    if (node.id !== body.id && isInner(node)) continue
    for (const child of namedChildrenOf(node).toReversed()) open.push(child)
  }
  return nodes
}

/** Is true where a `catch` of the same function may take what is thrown at a node. */
export function isCaught(thrown: Node, isFunction: (node: Node) => boolean): boolean {
  let node = thrown
  for (let around = node.parent; around !== null && !isFunction(node); around = around.parent) {
    const isTried = around.type.startsWith('try_') && around.childForFieldName('body')?.id === node.id
    if (isTried && around.children.some(({ type }) => type === 'catch_clause')) return true
    node = around
  }
  return false
}
