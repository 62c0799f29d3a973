import type { Node } from 'web-tree-sitter'
import {
  type Definition,
  type DefinitionReader,
  type DocumentedParameter,
  isCaught,
  namedChildrenOf,
  ownNodes,
} from '../comments/definition.ts'
import { exportsOf } from './exported-names.ts'

const functions = new Set(
  (
    'function_declaration generator_function_declaration function_signature function_expression generator_function ' +
    'arrow_function method_definition method_signature abstract_method_signature'
  ).split(' '),
)
const types = new Set(
  (
    'class class_declaration abstract_class_declaration interface_declaration type_alias_declaration enum_declaration ' +
    'internal_module module'
  ).split(' '),
)
const members =
  /^(?:method_definition|method_signature|abstract_method_signature|public_field_definition|field_definition|pair)$/

/** Reads a definition of TypeScript or JavaScript: a declaration, a variable with a function, a member, an assignment. */
export const readScriptDefinition: DefinitionReader = (node, place) => {
  const defined = definedBy(node)
  if (defined === undefined) return undefined
  const { name, value } = defined
  const isFunction = functions.has(value.type)
  const body = value.childForFieldName('body')
  const own = isFunction && body !== null ? ownNodes(body, ({ type }) => functions.has(type) || types.has(type)) : []
  const returns = isFunction ? typeText(value, 'return_type') : null
  const mayConstruct =
    value.type.startsWith('function_') && /^[A-Z]/.test(name) && own.some(({ type }) => type === 'this')
  const yields = own.some(({ type }) => type === 'yield_expression')
  return {
    name,
    kind: isFunction ? 'function' : 'type',
    parameters: isFunction ? parametersOf(value) : [],
    typeParameters: namedChildrenOf(value.childForFieldName('type_parameters')).map(
      (parameter) => parameter.childForFieldName('name')?.text ?? '',
    ),
    returns,
    returnsValue: yields ? 'no' : returnsValueOf({ returns, body, own, mayConstruct }),
    yields,
    throws: [...new Set(own.flatMap(thrownNames))],
    isProperty: value.children.some(({ type }) => type === 'get'),
    visibility: visibilityOf(node, name, place.source),
    exempt: exemptionOf(node, defined),
  }
}

type Defined = { name: string; value: Node; isAmbient: boolean }

function definedBy(node: Node, isAmbient = false): Defined | undefined {
  const nameOf = (of: Node, field = 'name') => of.childForFieldName(field)?.text ?? ''
  if (functions.has(node.type) || types.has(node.type)) {
    const name = nameOf(node)
    return { name: name === '' ? 'default' : name, value: node, isAmbient }
  }
  const through = (value: Node | null | undefined, name?: string): Defined | undefined => {
    const inner = value ? definedBy(value, isAmbient) : undefined
    return inner && { ...inner, name: name ?? inner.name }
  }
  switch (node.type) {
    case 'export_statement':
      return through(node.childForFieldName('declaration') ?? node.childForFieldName('value'))
    case 'ambient_declaration': {
      const inner = namedChildrenOf(node).at(-1)
      return inner && definedBy(inner, true)
    }
    case 'lexical_declaration':
    case 'variable_declaration': {
      const [only, ...more] = namedChildrenOf(node)
      return more.length > 0 ? undefined : through(only)
    }
    case 'variable_declarator':
    case 'public_field_definition':
      return through(node.childForFieldName('value'), nameOf(node))
    case 'field_definition':
      return through(node.childForFieldName('value'), nameOf(node, 'property'))
    case 'pair':
      return through(node.childForFieldName('value'), nameOf(node, 'key').replace(/^(['"])(.*)\1$/, '$2'))
    case 'expression_statement':
      return through(namedChildrenOf(node)[0])
    case 'assignment_expression':
      return through(
        node.childForFieldName('right'),
        (node.childForFieldName('left')?.text ?? '').replace(/^.*\./s, ''),
      )
    case 'call_expression': // memo(() => …), forwardRef(function Input() { … })
      return through(namedChildrenOf(node.childForFieldName('arguments'))[0])
    default:
      return undefined
  }
}

const nothing = /^(?:void|never|undefined|asserts\b.*|(?:Promise|PromiseLike)<\s*(?:void|never|undefined)\s*>)$/s

function returnsValueOf({
  returns,
  body,
  own,
  mayConstruct,
}: {
  returns: string | null
  /** It is called with `new`, or without it to the same effect. */
  mayConstruct: boolean
  body: Node | null
  own: readonly Node[]
}): Definition['returnsValue'] {
  if (returns !== null) return nothing.test(returns) ? 'no' : 'yes'
  if (body === null) return 'unknown'
  // What an arrow function without braces evaluates may be a call for its effect.
  if (body.type !== 'statement_block') return /^(?:call|await)_expression$/.test(body.type) ? 'unknown' : 'yes'
  const ends = own.filter(({ type }) => type === 'return_statement')
  const withValue = ends.filter((node) => node.namedChildCount > 0)
  if (withValue.length === 0) return 'no'
  // `return next(error)` beside `return`: the value may be that of a call for its effect.
  return withValue.length < ends.length || mayConstruct ? 'unknown' : 'yes'
}

function parametersOf(value: Node): DocumentedParameter[] {
  const single = value.childForFieldName('parameter')
  const nodes = single === null ? namedChildrenOf(value.childForFieldName('parameters')) : [single]
  return nodes.flatMap((node) => parameterOf(node) ?? [])
}

function typeText(node: Node, field: 'type' | 'return_type'): string | null {
  return node.childForFieldName(field)?.text.replace(/^:\s*/, '') ?? null
}

function parameterOf(node: Node): DocumentedParameter | undefined {
  if (node.type === 'decorator' || node.type === 'this') return undefined
  const pattern = node.childForFieldName('pattern') ?? node.childForFieldName('left') ?? node
  if (pattern.type === 'this') return undefined
  const target = pattern.type === 'rest_pattern' ? (namedChildrenOf(pattern)[0] ?? pattern) : pattern
  const fallback = node.childForFieldName('value') ?? node.childForFieldName('right')
  return {
    name: target.type === 'identifier' ? target.text : undefined,
    type: typeText(node, 'type'),
    default: fallback?.text ?? null,
    isRest: pattern.type === 'rest_pattern',
  }
}

/** Leaves out a `throw` that a `catch` of the function may take, and one of something that is no `new Name()`. */
function thrownNames(node: Node): string[] {
  if (node.type !== 'throw_statement') return []
  const [thrown] = namedChildrenOf(node)
  const name = thrown?.type === 'new_expression' ? (thrown.childForFieldName('constructor')?.text ?? '') : ''
  return /^(?:[\w$]+\.)*[A-Z][\w$]*$/.test(name) && !isCaught(node, ({ type }) => functions.has(type)) ? [name] : []
}

/** Is `public` when it is exported, and not in anything that is not; a member is neither `private` nor named like one. */
function visibilityOf(definition: Node, name: string, source: string): Definition['visibility'] {
  for (let node: Node | null = definition; node !== null; node = node.parent) {
    if (isHiddenMember(node) || (node.id !== definition.id && functions.has(node.type))) return 'private'
    const isInNamespace =
      node.parent?.type === 'statement_block' && /^(?:internal_)?module$/.test(node.parent.parent?.type ?? '')
    if (isInNamespace && node.type !== 'export_statement') return 'private'
    if (node.parent?.type === 'program') return isExported(node, source) ? 'public' : 'private'
  }
  return name.startsWith('_') ? 'private' : 'public'
}

function isHiddenMember(node: Node): boolean {
  if (!members.test(node.type)) return false
  const [name] = ['name', 'property', 'key'].flatMap((field) => node.childForFieldName(field) ?? [])
  const isPrivate = node.children.some(({ type, text }) => type === 'accessibility_modifier' && text === 'private')
  return isPrivate || /^[#_]/.test(name?.text ?? '')
}

function isExported(statement: Node, source: string): boolean {
  if (statement.type === 'export_statement') return true
  const [assigned] = statement.type === 'expression_statement' ? namedChildrenOf(statement) : []
  const left = assigned?.childForFieldName('left')?.text ?? ''
  if (/^(?:module\.)?exports\b/.test(left)) return true
  const [owner = ''] = left.split('.')
  const name = owner === '' ? (definedBy(statement)?.name ?? nameOfVariable(statement)) : owner
  return name !== '' && exportsIn(source).has(name)
}

function nameOfVariable(statement: Node): string {
  const declarator = namedChildrenOf(statement).find(({ type }) => type === 'variable_declarator')
  return declarator?.childForFieldName('name')?.text ?? ''
}

let last: { source: string; exported: ReturnType<typeof exportsOf> } | undefined

function exportsIn(source: string): ReturnType<typeof exportsOf> {
  if (last?.source !== source) last = { source, exported: exportsOf(source) }
  return last.exported
}

function exemptionOf(node: Node, { name, value, isAmbient }: Defined): string | undefined {
  const isSetter = value.children.some(({ type }) => type === 'set')
  if (isAmbient) return 'needs no docstring: it is declared here and written elsewhere'
  if (isSetter) return 'needs no docstring: it is a setter'
  if (name === 'constructor' && value.type.startsWith('method')) return 'needs no docstring: its class describes it'
  if (value.children.some(({ type }) => type === 'override_modifier'))
    return 'needs no docstring: it inherits that of the method it overrides'
  return isOverloaded(node, name, value) ? 'is left alone: it is one of several overloads' : undefined
}

/** Is true when a neighbour has its name, and one of the two has no body: editors show the comment of each signature. */
function isOverloaded(node: Node, name: string, value: Node): boolean {
  return (['previousNamedSibling', 'nextNamedSibling'] as const).some((side) => {
    let near = node[side]
    while (near?.type === 'comment' || near?.type === 'decorator') near = near[side]
    const other = near === null ? undefined : definedBy(near)
    if (other?.name !== name || !functions.has(other.value.type)) return false
    return [value, other.value].some(({ type }) => type.endsWith('_signature'))
  })
}
