import type { Node } from 'web-tree-sitter'
import { codeIn } from '#languages/python/python-nodes.ts'

/** A comparison or a chain of `and` or `or`, whose operands are evaluated in this order. */
export type Operation = { kind: 'comparison' | 'and' | 'or'; operands: Operand[] }
/** Its code, token by token. */
export type Operand = readonly string[]

/** Says what a grammar calls comparisons and chains. */
export type OperationGrammar = {
  types: readonly string[]
  /** Returns the operands of a comparison; undefined for another node. */
  comparedIn(node: Node): readonly Node[] | undefined
  /** The chain that an operator makes. */
  chains: Readonly<Record<string, 'and' | 'or'>>
}

export const pythonOperations: OperationGrammar = {
  types: ['comparison_operator', 'boolean_operator'],
  comparedIn: (node) => (node.type === 'comparison_operator' ? codeIn(node) : undefined),
  chains: { and: 'and', or: 'or' },
}

const comparisons = new Set(['<', '>', '<=', '>=', '==', '!=', '===', '!=='])

/** JavaScript compares two values at a time, so each comparison has two operands. */
export const scriptOperations: OperationGrammar = {
  types: ['binary_expression'],
  comparedIn(node) {
    const sides = [node.childForFieldName('left'), node.childForFieldName('right')]
    return comparisons.has(operatorOf(node)) ? sides.filter((side) => side !== null) : undefined
  },
  chains: { '&&': 'and', '||': 'or', '??': 'or' },
}

/** The comparisons and logical operations up to the node `until`, in order; `start` counts from the tree's start. */
export function operationsIn(
  root: Node,
  until: Node | undefined,
  { types, comparedIn, chains }: OperationGrammar,
): { start: number; operation: Operation }[] {
  /** Parts of a chain that was already read: `a and b and c` is one chain, although its nodes are nested. */
  const merged = new Set<number>()
  const operations: { start: number; operation: Operation }[] = []
  for (const node of root.descendantsOfType([...types], root.startPosition, until?.startPosition)) {
    if (merged.has(node.id)) continue
    const start = node.startIndex - root.startIndex
    const compared = comparedIn(node)
    const kind = chains[operatorOf(node)]
    if (compared !== undefined)
      operations.push({ start, operation: { kind: 'comparison', operands: compared.map(operandOf) } })
    else if (kind !== undefined) operations.push({ start, operation: { kind, operands: chainFrom(node, merged) } })
  }
  return operations
}

function chainFrom(node: Node, merged: Set<number>): Operand[] {
  const operands: Node[] = []
  for (let part: Node | null = node; part !== null;) {
    const right = part.childForFieldName('right')
    const left: Node | null = part.childForFieldName('left')
    if (right !== null) operands.push(right)
    const isPart: boolean = left?.type === node.type && operatorOf(left) === operatorOf(node)
    if (left !== null && isPart) merged.add(left.id)
    else if (left !== null) operands.push(left)
    part = isPart ? left : null
  }
  return operands.toReversed().map(operandOf)
}

function operatorOf(node: Node): string {
  return node.childForFieldName('operator')?.type ?? ''
}

function operandOf(node: Node): Operand {
  return node.text.match(/[\w$]+|[^\w$\s]/gu) ?? []
}
