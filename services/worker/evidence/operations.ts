import type { Node } from 'web-tree-sitter'
import { codeIn } from '#python/docstring-expression.ts'

/** A comparison or a chain of `and` or `or`, whose operands Python evaluates in this order. */
export type Operation = { kind: 'comparison' | 'and' | 'or'; operands: Operand[] }
/** Its code, token by token. */
export type Operand = readonly string[]

/** The comparisons and logical operations in a tree, in the order they begin; indices count from the tree's start. */
export function operationsIn(root: Node): { start: number; operation: Operation }[] {
  return root.descendantsOfType(['comparison_operator', 'boolean_operator']).flatMap((node) => {
    const operation = node.type === 'comparison_operator' ? comparisonOf(node) : chainFrom(node)
    return operation === undefined ? [] : [{ start: node.startIndex - root.startIndex, operation }]
  })
}

function comparisonOf(node: Node): Operation {
  return { kind: 'comparison', operands: codeIn(node).map(operandOf) }
}

/** `a and b and c` is one chain, though the tree nests it; undefined for a part of one. */
function chainFrom(node: Node): Operation | undefined {
  const kind = operatorOf(node)
  const { parent } = node
  if (parent?.type === 'boolean_operator' && operatorOf(parent) === kind && isLeft(node, parent)) return undefined
  return { kind, operands: chainOf(node, kind).map(operandOf) }
}

function operatorOf(node: Node): 'and' | 'or' {
  return node.childForFieldName('operator')?.type === 'or' ? 'or' : 'and'
}

function isLeft(node: Node, parent: Node): boolean {
  return parent.childForFieldName('left')?.id === node.id
}

function chainOf(node: Node, kind: 'and' | 'or'): Node[] {
  const operands: Node[] = []
  let part = node
  for (;;) {
    const right = part.childForFieldName('right')
    const left = part.childForFieldName('left')
    if (right !== null) operands.unshift(right)
    if (left === null) return operands
    if (left.type !== 'boolean_operator' || operatorOf(left) !== kind) return [left, ...operands]
    part = left
  }
}

function operandOf(node: Node): Operand {
  return node.text.match(/\w+|[^\w\s]/gu) ?? []
}
