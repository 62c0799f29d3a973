import type { Node, Tree } from 'web-tree-sitter'
import { bisect } from '#platform/changed-ranges.ts'
import type { Statement } from './statements.ts'

/** Holds one call, attribute or item, which may run code. `called`: the last name of what is called. `isDeferred`: in a function of one expression. */
export type Evaluation = { code: string; called?: string; isDeferred: boolean }

/** Says how a language names what may run code, and where it does not evaluate in the order of the text. */
export type EvaluationGrammar = {
  calls: readonly string[]
  reads: readonly string[]
  /** Nodes whose evaluations are made later, if at all, and that are no statements of their own. */
  deferred: readonly string[]
  /** Nodes within a statement that are statements of their own. */
  statements: readonly string[]
  bodies: readonly string[]
  /** Nodes of which one part comes first in the text, and another is evaluated first. */
  turned: Readonly<Record<string, (node: Node) => { first: Node | null | undefined; last: Node | null | undefined }>>
}

export const pythonEvaluations: EvaluationGrammar = {
  calls: ['call', 'await', 'yield'],
  reads: ['attribute', 'subscript'],
  deferred: ['lambda'],
  statements: [],
  bodies: ['block'],
  turned: {
    assignment: rightFirst,
    for_statement: rightFirst,
    for_in_clause: rightFirst,
    conditional_expression: ({ namedChildren: [body, condition] }) => ({ first: condition, last: body }),
    list_comprehension: bodyLast,
    set_comprehension: bodyLast,
    dictionary_comprehension: bodyLast,
    generator_expression: bodyLast,
  },
}

export const scriptEvaluations: EvaluationGrammar = {
  calls: ['call_expression', 'new_expression', 'await_expression', 'yield_expression'],
  reads: ['member_expression', 'subscript_expression'],
  deferred: [],
  statements: ['arrow_function', 'function_expression', 'generator_function', 'class', 'method_definition'],
  bodies: ['statement_block', 'class_body', 'switch_body'],
  turned: {},
}

function rightFirst(node: Node) {
  return { first: node.childForFieldName('right'), last: node.childForFieldName('left') }
}

function bodyLast(node: Node) {
  return { first: node.namedChildren.at(-1), last: node.childForFieldName('body') }
}

/** Limits the code of an evaluation: of a longer one both ends are compared, since a chain of calls grows with each link. */
const longestCode = 400

/** Lists what a statement evaluates, in that order, without a head's bodies: what ends first comes first, but for parts that are turned round. */
export function evaluationsIn(
  tree: Tree,
  { kind, row, column }: Pick<Statement, 'kind' | 'row' | 'column'>,
  grammar: EvaluationGrammar,
): Evaluation[] {
  let root = tree.rootNode.descendantForPosition({ row, column })
  while (root !== null && root.type !== kind) root = root.parent
  if (root === null) return []
  const body = root.namedChildren.find((child) => child !== null && grammar.bodies.includes(child.type))
  const find = (types: readonly string[]) =>
    types.length === 0 ? [] : root.descendantsOfType([...types], root.startPosition, body?.startPosition)
  const isDeferred = insideFinder(find(grammar.deferred))
  const isStatement = insideFinder(find(grammar.statements).filter((node) => node.id !== root.id))
  const nodes = find([...grammar.calls, ...grammar.reads])
    .filter((node) => node.isNamed && !isStatement(node))
    .toSorted((left, right) => left.endIndex - right.endIndex)
  const { text, startIndex } = root
  return inOrder(nodes, find(Object.keys(grammar.turned)), grammar).map((node) => {
    const code = codeOf(text.slice(node.startIndex - startIndex, node.endIndex - startIndex))
    const called = grammar.calls.includes(node.type) ? { called: calledBy(node) } : {}
    return { code, ...called, isDeferred: isDeferred(node) }
  })
}

function calledBy(node: Node): string {
  const callee = node.childForFieldName('function') ?? node.childForFieldName('constructor')
  const member = callee?.childForFieldName('attribute') ?? callee?.childForFieldName('property') ?? callee
  return member?.text.slice(0, longestCode) ?? node.type
}

function insideFinder(nodes: readonly Node[]): (node: Node) => boolean {
  const outermost: Node[] = []
  for (const node of nodes) if (node.endIndex > (outermost.at(-1)?.endIndex ?? -1)) outermost.push(node)
  return ({ startIndex, endIndex }) => {
    const around = outermost[bisect(outermost.length, (at) => (outermost[at]?.startIndex ?? 0) <= startIndex) - 1]
    return around !== undefined && endIndex <= around.endIndex
  }
}

/** `found` is sorted by the ends. Inner nodes are turned first, and stay together when an outer one is. */
function inOrder(nodes: readonly Node[], turned: readonly Node[], grammar: EvaluationGrammar): Node[] {
  const ordered = [...nodes]
  const placeOf = (index: number) => bisect(nodes.length, (at) => (nodes[at]?.endIndex ?? 0) <= index)
  for (const node of turned.toReversed()) {
    const { first, last } = grammar.turned[node.type]?.(node) ?? {}
    if (!first || !last || last.startIndex > first.startIndex) continue
    const [from, middle, to] = [placeOf(last.startIndex), placeOf(last.endIndex), placeOf(first.endIndex)]
    const part = [...ordered.slice(middle, to), ...ordered.slice(from, middle)]
    for (const [at, one] of part.entries()) ordered[from + at] = one
  }
  return ordered
}

function codeOf(text: string): string {
  const half = longestCode / 2
  const ends = text.length <= longestCode ? text : `${text.slice(0, half)} … ${text.slice(-half)}`
  return ends.match(/[\w$]+|[^\w$\s]/gu)?.join(' ') ?? ''
}
