import type { Node, Tree } from 'web-tree-sitter'
import { sha256 } from '#domain/hash.ts'

/**
 * A hash of the source's tokens without comments and docstrings, and without a `pass` or `...` that stands alone in a
 * body (a docstring makes it superfluous). Two texts with equal hashes run the same but for `__doc__`.
 */
export function structureHash(tree: Tree): string {
  const tokens: string[] = []
  collect(tree.rootNode, tokens)
  return sha256(tokens.join('\0'))
}

function collect(node: Node, tokens: string[]): void {
  if (node.type === 'comment') return
  if (node.childCount === 0 || node.type === 'string') {
    tokens.push(node.text)
    return
  }
  const isBody = node.type === 'block' || node.type === 'module'
  const children = isBody ? statementsThatRun(node) : node.children
  // Where a block begins and ends carries meaning that its tokens alone do not.
  if (node.type === 'block') tokens.push('{')
  for (const child of children) if (child !== null) collect(child, tokens)
  if (node.type === 'block') tokens.push('}')
}

function statementsThatRun(body: Node): Node[] {
  const statements = body.namedChildren.filter((child) => child !== null && child.type !== 'comment')
  const owner = body.parent
  const mayHaveDocstring = owner === null || owner.type === 'function_definition' || owner.type === 'class_definition'
  const rest = mayHaveDocstring && isDocstring(statements[0]) ? statements.slice(1) : statements
  const isFiller = rest.length === 1 && mayHaveDocstring && ['pass', '...'].includes(rest[0]?.text ?? '')
  return isFiller ? [] : rest
}

/** Whether a statement is a bare string: a docstring when it comes first in a body. */
export function isDocstring(statement: Node | null | undefined): boolean {
  const expression = statement?.type === 'expression_statement' ? statement.namedChildren : []
  return expression.length === 1 && expression[0]?.type === 'string' && !/^[bBfFtT]/.test(expression[0].text)
}
