import type { Node } from 'web-tree-sitter'
import { codeIn } from '#languages/python/python-nodes.ts'

/** A comparison or a chain of `and` or `or`, whose operands Python evaluates in this order. */
export type Operation = { kind: 'comparison' | 'and' | 'or'; operands: Operand[] }
/** Its code, token by token. */
export type Operand = readonly string[]

/** The comparisons and logical operations up to the node `until`, in order; `start` counts from the tree's start. */
export function operationsIn(root: Node, until?: Node): { start: number; operation: Operation }[] {
  const types = ['comparison_operator', 'boolean_operator']
  /** Parts of a chain that was already read: `a and b and c` is one chain, although its nodes are nested. */
  const merged = new Set<number>()
  const found: { start: number; operation: Operation }[] = []
  for (const node of root.descendantsOfType(types, root.startPosition, until?.startPosition)) {
    if (merged.has(node.id)) continue
    const operation = node.type === 'comparison_operator' ? comparisonOf(node) : chainFrom(node, merged)
    found.push({ start: node.startIndex - root.startIndex, operation })
  }
  return found
}

function comparisonOf(node: Node): Operation {
  return { kind: 'comparison', operands: codeIn(node).map(operandOf) }
}

function chainFrom(node: Node, merged: Set<number>): Operation {
  const kind = operatorOf(node)
  const operands: Node[] = []
  for (let part: Node | null = node; part !== null;) {
    const right = part.childForFieldName('right')
    const left: Node | null = part.childForFieldName('left')
    if (right !== null) operands.push(right)
    const isPart: boolean = left?.type === 'boolean_operator' && operatorOf(left) === kind
    if (left !== null && isPart) merged.add(left.id)
    else if (left !== null) operands.push(left)
    part = isPart ? left : null
  }
  return { kind, operands: operands.toReversed().map(operandOf) }
}

function operatorOf(node: Node): 'and' | 'or' {
  return node.childForFieldName('operator')?.type === 'or' ? 'or' : 'and'
}

function operandOf(node: Node): Operand {
  return node.text.match(/\w+|[^\w\s]/gu) ?? []
}
