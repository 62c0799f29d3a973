import type { SourcePosition } from './script-declarations.ts'
import { partsOf, positionOf, type SyntaxNode } from './syntax-node.ts'

/**
 * What the last statement of a script is; the value of an expression is the script's result. `name` is that of a bare
 * name, or of what a call that nothing awaits calls.
 */
export type LastStatement = SourcePosition &
  ({ kind: 'none' | 'statement' | 'collection' | 'constant' | 'expression' } | { kind: 'name' | 'call'; name: string })

const collections = new Set(['dictionary', 'list'])
const constants = new Set(['none', 'ellipsis', 'string', 'concatenated_string'])

export function lastStatement(root: SyntaxNode): LastStatement {
  const statement = partsOf(root).at(-1)
  if (statement === undefined) return { kind: 'none', line: 1, column: 1 }
  const at = positionOf(statement)
  const [expression] = statement.type === 'expression_statement' ? partsOf(statement) : []
  if (expression === undefined || expression.type.endsWith('assignment')) return { kind: 'statement', ...at }
  if (collections.has(expression.type)) return { kind: 'collection', ...at }
  if (constants.has(expression.type) && !hasInterpolation(expression)) return { kind: 'constant', ...at }
  if (expression.type === 'identifier') return { kind: 'name', name: expression.text, ...at }
  if (expression.type !== 'call') return { kind: 'expression', ...at }
  return { kind: 'call', name: expression.childForFieldName('function')?.text ?? '', ...at }
}

function hasInterpolation(node: SyntaxNode): boolean {
  const strings = node.type === 'concatenated_string' ? partsOf(node) : [node]
  return strings.some((string) => partsOf(string).some((part) => part.type === 'interpolation'))
}
