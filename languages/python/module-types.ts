import type { Node, Tree } from 'web-tree-sitter'
import { decoratorsOf } from './docstring-site.ts'
import { dottedName, importedNames, importStatementTypes } from './imported-names.ts'
import { codeIn, parameterIn } from './python-nodes.ts'
import { type PythonParser, scalarOf, type TypeExpression, typeExpressionOf } from './type-expression.ts'

/** Describes a parameter, or a field of a class. `text` is how the source writes it, on one line. */
export type TypedName = {
  name: string
  text: string
  type: TypeExpression | undefined
  isRequired: boolean
  default?: string | number | boolean | null
  /** `*args` and `**kwargs` have the type of one argument. */
  rest?: 'list' | 'dict'
}

export type TypedDefinition =
  | { kind: 'function'; parameters: TypedName[] }
  | {
      kind: 'class'
      bases: string[]
      decorators: string[]
      /** Fields of a TypedDict need not be there unless they say so. */
      isPartial: boolean
      fields: TypedName[]
      /** Lists what is assigned in its body without a type, by name: the members of an enumeration. */
      members: [name: string, value: string | number | boolean | null | undefined][]
    }
  | { kind: 'alias'; type: TypeExpression }

export type ModuleTypes = {
  imports: Record<string, { module: string; imported: string | null }>
  /** Holds definitions by qualified name; what is defined in functions is left out. */
  definitions: Record<string, TypedDefinition>
}

export function moduleTypesOf(tree: Tree, python: PythonParser): ModuleTypes {
  const types: ModuleTypes = { imports: Object.create(null), definitions: Object.create(null) }
  readBlock(tree.rootNode, '', { types, python })
  return types
}

type Reading = { types: ModuleTypes; python: PythonParser }

/** Blocks of `if`, `try` and `with` at module level count: imports for type checkers are in such blocks. */
function readBlock(block: Node, prefix: string, reading: Reading): void {
  const open = codeIn(block).toReversed()
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (/^(?:if|try|with)_statement$|_clause$|^block$/.test(node.type)) open.push(...codeIn(node).toReversed())
    else readStatement(node, prefix, reading)
  }
}

function readStatement(node: Node, prefix: string, { types, python }: Reading): void {
  const { definitions, imports } = types
  if (importStatementTypes.includes(node.type)) {
    for (const { module, imported, name, alias } of importedNames(node)) {
      if (imported === '*') continue
      const isPart = imported === undefined && alias === undefined
      imports[name] = { module: isPart ? name : module, imported: imported ?? null }
    }
    return
  }
  const definition = node.type === 'decorated_definition' ? node.childForFieldName('definition') : node
  const name = definition?.childForFieldName('name')?.text ?? ''
  if (definition?.type === 'function_definition') {
    const decorators = decoratorNames(definition)
    // An overload says less than its implementation, and a setter has the name of its property.
    if (decorators.some((decorator) => /(?:^|\.)(?:overload|setter|deleter)$/.test(decorator))) return
    definitions[`${prefix}${name}`] = { kind: 'function', parameters: parametersOf(definition, prefix, python) }
  } else if (definition?.type === 'class_definition') {
    definitions[`${prefix}${name}`] = classOf(definition, python)
    const body = definition.childForFieldName('body')
    if (body !== null) readBlock(body, `${prefix}${name}.`, { types, python })
  } else if (prefix === '') readAlias(node, { types, python })
}

function decoratorNames(definition: Node): string[] {
  return decoratorsOf(definition).flatMap((decorator) => dottedName(decorator) ?? [])
}

function parametersOf(definition: Node, prefix: string, python: PythonParser): TypedName[] {
  const parameters = codeIn(definition.childForFieldName('parameters')).flatMap(
    (node) => parameterOf(node, python) ?? [],
  )
  const isStatic = decoratorNames(definition).includes('staticmethod')
  return prefix === '' || isStatic ? parameters : parameters.slice(1)
}

function parameterOf(node: Node, python: PythonParser): TypedName | undefined {
  const parameter = parameterIn(node)
  if (parameter === undefined) return undefined
  const { name, type, value, rest } = parameter
  return {
    name,
    text: oneLine(node),
    type: type === null ? undefined : typeExpressionOf(type, python),
    isRequired: value === null && rest === undefined,
    ...defaultOf(value),
    ...(rest && { rest: rest === 'positional' ? 'list' : 'dict' }),
  }
}

function classOf(definition: Node, python: PythonParser): TypedDefinition {
  const given = codeIn(definition.childForFieldName('superclasses'))
  const total = given.find((argument) => argument.childForFieldName('name')?.text === 'total')
  const assigned = codeIn(definition.childForFieldName('body')).flatMap(assignmentIn)
  return {
    kind: 'class',
    bases: given.flatMap((base) => dottedName(base) ?? []),
    decorators: decoratorNames(definition),
    isPartial: total?.childForFieldName('value')?.type === 'false',
    fields: assigned.flatMap((assignment) => fieldOf(assignment, python) ?? []),
    members: assigned.flatMap(memberOf),
  }
}

function assignmentIn(statement: Node): Node[] {
  const [only] = statement.type === 'expression_statement' ? codeIn(statement) : []
  return only?.type === 'assignment' ? [only] : []
}

/** Reads a field of a dataclass, TypedDict, NamedTuple or model. Undefined for what is no argument of the class. */
function fieldOf(assignment: Node, python: PythonParser): TypedName | undefined {
  const [left, annotation, value] = ['left', 'type', 'right'].map((name) => assignment.childForFieldName(name))
  if (left?.type !== 'identifier' || !annotation) return undefined
  const type = typeExpressionOf(annotation, python)
  const name = left.text
  const made = value?.type === 'call' ? value.text.replaceAll(/\s+/g, '') : ''
  const isArgument = !/^(?:typing\.|t\.)?(?:ClassVar|KW_ONLY|dataclasses\.KW_ONLY)\b/.test(annotation.text)
  if (!isArgument || /[(,]init=False/.test(made) || name.startsWith('__')) return undefined
  const isField = /^(?:[\w]+\.)?(?:field|Field|ib|attrib|Factory|Private\w*)\(/.test(made)
  const hasDefault =
    Boolean(value) && (!isField || /[(,](?:default|default_factory|factory)=/.test(made) || hasFirst(made))
  const text = `${name}: ${oneLine(annotation)}${hasDefault ? ' = ...' : ''}`
  return { name, text, type, isRequired: !hasDefault, ...defaultOf(value) }
}

function defaultOf(value: Node | null | undefined): Pick<TypedName, 'default'> {
  const plain = value ? scalarOf(value) : undefined
  return plain === undefined ? {} : { default: plain }
}

/** pydantic's `Field("x")` has its default in front, and `Field(...)` none. */
function hasFirst(made: string): boolean {
  return /^(?:\w+\.)?Field\((?!\.\.\.|\w+=|\))/.test(made)
}

function memberOf(assignment: Node): [string, string | number | boolean | null | undefined][] {
  const [left, value] = [assignment.childForFieldName('left'), assignment.childForFieldName('right')]
  if (left?.type !== 'identifier' || value === null || assignment.childForFieldName('type') !== null) return []
  return left.text.startsWith('_') ? [] : [[left.text, scalarOf(value)]]
}

/** Reads `A = int | str`, `A: TypeAlias = ...`, `type A = ...`, `A = NewType("A", int)` and `T = TypeVar("T", bound=int)`. */
function readAlias(statement: Node, { types: { definitions }, python }: Reading): void {
  if (statement.type === 'type_alias_statement') {
    const [left, right] = [statement.childForFieldName('left'), statement.childForFieldName('right')]
    if (left && right) definitions[left.text] = { kind: 'alias', type: typeExpressionOf(right, python) }
    return
  }
  const [assignment] = assignmentIn(statement)
  const [left, right] = [assignment?.childForFieldName('left'), assignment?.childForFieldName('right')]
  if (left?.type !== 'identifier' || !right) return
  const made = right.type === 'call' ? newTypeOf(right) : right
  if (made === 'any') definitions[left.text] = { kind: 'alias', type: { kind: 'name', name: 'Any' } }
  else if (made !== undefined && /^(?:identifier|attribute|subscript|binary_operator)$/.test(made.type))
    definitions[left.text] = { kind: 'alias', type: typeExpressionOf(made, python) }
}

function newTypeOf(call: Node): Node | 'any' | undefined {
  const callee = /(\w+)$/.exec(call.childForFieldName('function')?.text ?? '')?.[1]
  const given = codeIn(call.childForFieldName('arguments'))
  if (callee === 'NewType') return given[1]
  if (callee !== 'TypeVar') return undefined
  const bound = given.find((argument) => argument.childForFieldName('name')?.text === 'bound')
  return bound?.childForFieldName('value') ?? 'any'
}

function oneLine(node: Node): string {
  return node.text.replaceAll(/\s+/g, ' ').trim()
}
