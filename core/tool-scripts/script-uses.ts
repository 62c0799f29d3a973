import type { SourcePosition } from './script-declarations.ts'
import { positionOf, type SyntaxNode } from './syntax-node.ts'

/** A function that a script defines, other than its externals. */
export type DefinedFunction = SourcePosition & {
  name: string
  isAsync: boolean
  /** Of the function around it. */
  inside: DefinedFunction | undefined
  /** A decorator or a class has it, and may call it. */
  isHandedOver: boolean
  /** What its code uses, without the functions inside it. */
  names: Set<string>
}

export type ScriptUses = { outside: ReadonlySet<string>; functions: readonly DefinedFunction[] }

type Open = { node: SyntaxNode; inside: DefinedFunction | undefined; isHandedOver: boolean }

/**
 * Which names the code uses, outside of all functions and in each. Names of attributes, keyword arguments, parameters,
 * imports and assignments are no uses; a name is taken for the same thing wherever it occurs.
 */
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
    const isHandedOver = node.type === 'decorated_definition' || isClassBody(next)
    for (const child of usingParts(node).toReversed()) open.push({ node: child, inside, isHandedOver })
  }
  return { outside, functions }
}

/** Every name the code uses anywhere. */
export function usedNames({ outside, functions }: ScriptUses): ReadonlySet<string> {
  return new Set([...outside, ...functions.flatMap(({ names }) => [...names])])
}

/** The functions that no code outside of functions leads to. */
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

function isClassBody({ node, isHandedOver }: Open): boolean {
  return node.type === 'class_definition' || (isHandedOver && node.type === 'block')
}

const importing = new Set(['import_statement', 'import_from_statement', 'future_import_statement'])
/** The field of a node that names something without using it. */
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
