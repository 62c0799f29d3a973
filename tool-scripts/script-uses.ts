import type { SourcePosition } from './script-declarations.ts'
import { partsOf, positionOf, type SyntaxNode } from './syntax-node.ts'

/** A function that a script defines, other than its externals. */
export type DefinedFunction = SourcePosition & {
  name: string
  isAsync: boolean
  inside: DefinedFunction | undefined
  /** A decorator or a class gets it, and may call it. */
  isHandedOver: boolean
  names: Set<string>
}

export type ScriptUses = { outside: ReadonlySet<string>; functions: readonly DefinedFunction[] }

type Open = { node: SyntaxNode; inside: DefinedFunction | undefined; isHandedOver: boolean }

/** Lists names that the code uses, outside of functions and in each. Scopes are ignored: equal names mean the same thing. */
export function findUses(statements: readonly SyntaxNode[]): ScriptUses {
  const outside = new Set<string>()
  const functions: DefinedFunction[] = []
  const open: Open[] = statements.map((node) => ({ node, inside: undefined, isHandedOver: false })).toReversed()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node } = next
    if (node.type === 'identifier') (next.inside?.names ?? outside).add(node.text)
    let { inside } = next
    if (node.type === 'function_definition') {
      inside = definedFunction(next)
      functions.push(inside)
    }
    const isInClass = node.type === 'class_definition' || (next.isHandedOver && node.type === 'block')
    const isHandedOver = node.type === 'decorated_definition' || isInClass
    for (const child of usingParts(node).toReversed()) open.push({ node: child, inside, isHandedOver })
  }
  return { outside, functions }
}

export function usedNames({ outside, functions }: ScriptUses): ReadonlySet<string> {
  return new Set([...outside, ...functions.flatMap(({ names }) => [...names])])
}

/** The functions that are not reachable from code outside of functions. */
export function uncalledFunctions({ outside, functions }: ScriptUses): DefinedFunction[] {
  const names = new Set(outside)
  const called = new Set<DefinedFunction>()
  for (let before = -1; before < called.size;) {
    before = called.size
    for (const defined of functions) {
      const isDefined = defined.inside === undefined || called.has(defined.inside)
      if (called.has(defined) || !isDefined || !(defined.isHandedOver || names.has(defined.name))) continue
      called.add(defined)
      for (const name of defined.names) names.add(name)
    }
  }
  return functions.filter((defined) => !called.has(defined))
}

function definedFunction({ node, inside, isHandedOver }: Open): DefinedFunction {
  const name = node.childForFieldName('name')?.text ?? ''
  const isAsync = node.children[0]?.type === 'async'
  return { ...positionOf(node), name, isAsync, inside, isHandedOver, names: new Set() }
}

export const importing = new Set(['import_statement', 'import_from_statement', 'future_import_statement'])

const naming: ReadonlyMap<string, string> = new Map([
  ['function_definition', 'name'],
  ['class_definition', 'name'],
  ['attribute', 'attribute'],
  ['keyword_argument', 'name'],
  ['default_parameter', 'name'],
  ['typed_default_parameter', 'name'],
])

function usingParts(node: SyntaxNode): SyntaxNode[] {
  if (importing.has(node.type)) return []
  const parts = node.namedChildren.filter((child) => child !== null)
  const field = naming.get(node.type)
  const named = field === undefined ? undefined : node.childForFieldName(field)?.id
  if (named !== undefined) return parts.filter((part) => part.id !== named)
  const isBare = (part: SyntaxNode): boolean => part.type === 'identifier'
  if (node.type === 'parameters' || node.type === 'lambda_parameters') return parts.filter((part) => !isBare(part))
  const [first, ...rest] = parts
  const namesFirst = node.type === 'typed_parameter' || node.type === 'assignment'
  return namesFirst && first !== undefined && isBare(first) ? rest : parts
}

/** An expression's value is the script's result. `name`: the bare name, or that of a function called without await. */
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
