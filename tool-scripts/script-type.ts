import type { JsonSchema } from '#domain/turn.ts'
import { pythonLiteral } from './python-literal.ts'
import { partsOf, type SyntaxNode } from './syntax-node.ts'

const maxDepth = 16
const simple: Readonly<Record<string, JsonSchema>> = {
  str: { type: 'string' },
  int: { type: 'integer' },
  float: { type: 'number' },
  bool: { type: 'boolean' },
  None: { type: 'null' },
  Any: {},
  list: { type: 'array' },
  List: { type: 'array' },
  dict: { type: 'object' },
  Dict: { type: 'object' },
}

/** Returns the JSON Schema of a type annotation; undefined for types that have none, such as a tuple or a forward reference. */
export function typeSchema(node: SyntaxNode, depth = 0): JsonSchema | undefined {
  if (depth > maxDepth) return undefined
  switch (node.type) {
    case 'type':
    case 'parenthesized_expression': {
      const [part, more] = partsOf(node)
      return part === undefined || more !== undefined ? undefined : typeSchema(part, depth + 1)
    }
    case 'identifier':
    case 'none':
    case 'attribute':
      return Object.hasOwn(simple, typeName(node)) ? simple[typeName(node)] : undefined
    case 'union_type':
    case 'binary_operator':
      return node.children.some((child) => child?.type === '|') ? union(partsOf(node), depth) : undefined
    case 'generic_type': {
      const [name, list] = partsOf(node)
      return generic(typeName(name), list === undefined ? [] : partsOf(list), depth)
    }
    case 'subscript':
      return generic(typeName(node.childForFieldName('value')), partsOf(node).slice(1), depth)
    default:
      return undefined
  }
}

/** The schema without `null`: for an optional input, null means absent. */
export function withoutNull(schema: JsonSchema): JsonSchema {
  const members = schema['anyOf']
  if (!Array.isArray(members)) return schema
  const rest: JsonSchema[] = members.filter((member: JsonSchema) => member['type'] !== 'null')
  const [only] = rest
  return rest.length === 1 && only !== undefined ? only : { anyOf: rest }
}

/** The name of a type, without `typing.`; empty for anything else. */
function typeName(node: SyntaxNode | null | undefined): string {
  if (node?.type === 'identifier' || node?.type === 'none') return node.text
  if (node?.type !== 'attribute' || node.childForFieldName('object')?.text !== 'typing') return ''
  return node.childForFieldName('attribute')?.text ?? ''
}

function generic(name: string, args: readonly SyntaxNode[], depth: number): JsonSchema | undefined {
  const [first, second] = args
  switch (name) {
    case 'list':
    case 'List':
      return args.length === 1 && first !== undefined ? container('array', 'items', first, depth) : undefined
    case 'dict':
    case 'Dict':
      return args.length === 2 && first?.text === 'str' && second !== undefined
        ? container('object', 'additionalProperties', second, depth)
        : undefined
    case 'Optional':
      return args.length === 1 && first !== undefined ? union([first], depth, [{ type: 'null' }]) : undefined
    case 'Union':
      return union(args, depth)
    case 'Literal':
      return literal(args)
    default:
      return undefined
  }
}

function container(type: string, keyword: string, member: SyntaxNode, depth: number): JsonSchema | undefined {
  const schema = typeSchema(member, depth + 1)
  return schema && (isAny(schema) ? { type } : { type, [keyword]: schema })
}

function union(nodes: readonly SyntaxNode[], depth: number, more: JsonSchema[] = []): JsonSchema | undefined {
  const schemas = nodes.map((node) => typeSchema(node, depth + 1))
  const known = schemas.filter((schema) => schema !== undefined)
  return known.length === schemas.length && known.length > 0 ? anyOf([...known, ...more]) : undefined
}

function anyOf(schemas: readonly JsonSchema[]): JsonSchema {
  if (schemas.some(isAny)) return {}
  const flat = schemas.flatMap((schema): JsonSchema[] => (Array.isArray(schema['anyOf']) ? schema['anyOf'] : [schema]))
  const distinct = [...new Map(flat.map((schema) => [JSON.stringify(schema), schema])).values()]
  const [only] = distinct
  return distinct.length === 1 && only !== undefined ? only : { anyOf: distinct }
}

function literal(args: readonly SyntaxNode[]): JsonSchema | undefined {
  const values = args.map((arg) => pythonLiteral(arg.type === 'type' ? (partsOf(arg)[0] ?? arg) : arg)?.value)
  const types = new Set(values.map(literalType))
  const [type] = types
  if (type === undefined || types.has(undefined)) return undefined
  return { ...(types.size === 1 ? { type } : {}), enum: [...new Set(values)] }
}

function literalType(value: unknown): string | undefined {
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : undefined
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : undefined
}

function isAny(schema: JsonSchema): boolean {
  return Object.keys(schema).length === 0
}
