import { pythonLiteral } from './python-literal.ts'
import {
  type ExternalDeclaration,
  type ExternalParameter,
  mangledName,
  type InputDeclaration,
  type LocatedFault,
  type ScriptDeclarations,
} from './script-declarations.ts'
import { typeSchema, withoutNull } from './script-type.ts'
import type { SourceEdit } from './source-edit.ts'
import { grailName, partsOf, positionOf, scriptFault, type SyntaxNode, walk } from './syntax-node.ts'
import { valueFaults } from './tool-arguments.ts'

export type DeclaredParts = {
  declarations: ScriptDeclarations
  faults: LocatedFault[]
  /** The edits that turn the source into code for Monty, and into code for its type checker. They keep line numbers. */
  runEdits: SourceEdit[]
  typeEdits: SourceEdit[]
}

/** Adds the input that a module's `name: T = Input("name"[, default=…])` declares to `script`; false for other code. */
export function addInput(statement: SyntaxNode, script: DeclaredParts): boolean {
  const [assignment] = statement.type === 'expression_statement' ? partsOf(statement) : []
  const call = assignment?.type === 'assignment' ? assignment.childForFieldName('right') : null
  if (assignment === undefined || call?.type !== 'call') return false
  if (grailName(call.childForFieldName('function')) !== 'Input') return false
  const declaration = readInput(assignment, call, script.faults)
  if (declaration !== undefined) script.declarations.inputs.push(declaration)
  script.runEdits.push({ start: statement.startIndex, end: statement.endIndex, text: 'pass' })
  const annotation = assignment.childForFieldName('type')
  // An input whose default is None may be None, even if its annotation does not say so.
  if (declaration?.default === null && annotation !== null)
    script.typeEdits.push({ start: annotation.endIndex, end: annotation.endIndex, text: ' | None' })
  script.typeEdits.push({ start: call.startIndex, end: call.endIndex, text: '__any' })
  return true
}

function readInput(assignment: SyntaxNode, call: SyntaxNode, faults: LocatedFault[]): InputDeclaration | undefined {
  const fail = (node: SyntaxNode, message: string): undefined => {
    faults.push(scriptFault(node, 'E008', message))
  }
  const left = assignment.childForFieldName('left')
  const annotation = assignment.childForFieldName('type')
  const name = left?.type === 'identifier' ? left.text : ''
  if (name === '') return fail(assignment, 'an input is assigned to one plain name')
  if (annotation === null)
    return fail(assignment, `input ${name} has no type annotation; write ${name}: str = Input("${name}")`)
  const schema = typeSchema(annotation)
  if (schema === undefined) return fail(annotation, `input ${name} has an unsupported type: ${annotation.text}`)
  const given = readArguments(call, name, fail)
  if (given === undefined) return undefined
  const common = { ...positionOf(assignment), name, type: annotation.text }
  if (given.default === undefined) return { ...common, schema, optional: false }
  const { value } = given.default
  if (value === null) return { ...common, schema: withoutNull(schema), optional: true, default: null }
  const [misfit] = valueFaults(schema, value, 'the default')
  if (misfit !== undefined) return fail(call, `input ${name}: ${misfit}`)
  return { ...common, schema, optional: true, default: value }
}

type Fail = (node: SyntaxNode, message: string) => undefined

function readArguments(call: SyntaxNode, expected: string, fail: Fail): { default?: { value: unknown } } | undefined {
  const list = call.childForFieldName('arguments')
  const [first, second, more] = list === null ? [] : partsOf(list)
  const name = first === undefined ? undefined : pythonLiteral(first)?.value
  const shape = `write Input("${expected}") or Input("${expected}", default=…)`
  if (first === undefined || typeof name !== 'string')
    return fail(call, `an input is named by a plain string; ${shape}`)
  if (name !== expected)
    return fail(first, `Input(${JSON.stringify(name)}) is assigned to ${expected}; the names must be equal`)
  if (second === undefined) return {}
  const isDefault = second.type === 'keyword_argument' && second.childForFieldName('name')?.text === 'default'
  const value = second.childForFieldName('value')
  if (!isDefault || value === null || more !== undefined)
    return fail(more ?? second, `an input takes its name and a default, nothing else; ${shape}`)
  const literal = pythonLiteral(value)
  if (literal !== undefined) return { default: literal }
  return fail(value, `the default of ${expected} is no literal that JSON can carry: ${shownCode(value.text)}`)
}

function shownCode(text: string): string {
  const line = text.slice(0, 200).split('\n', 1)[0] ?? ''
  return line.length > 60 ? `${line.slice(0, 60)}…` : line
}

/** Adds the external that a module-level `@external` definition declares to `script`; false for other code. */
export function addExternal(statement: SyntaxNode, script: DeclaredParts): boolean {
  const { faults, runEdits, typeEdits } = script
  const decorators = partsOf(statement).filter((part) => part.type === 'decorator')
  const mark = decorators.find((decorator) => grailName(partsOf(decorator)[0]) === 'external')
  const definition = statement.type === 'decorated_definition' ? statement.childForFieldName('definition') : null
  if (mark === undefined || definition?.type !== 'function_definition') return false
  if (decorators.length > 1) faults.push(scriptFault(statement, 'E006', 'an external has no other decorator'))
  const declaration = readSignature(definition, faults)
  script.declarations.externals.push(declaration)
  const body = definition.childForFieldName('body')
  if (!isStub(body))
    faults.push(scriptFault(body ?? definition, 'E007', `the body of external ${declaration.name} is not \`...\``))
  const unmark = { start: mark.startIndex, end: mark.endIndex, text: '' }
  runEdits.push(unmark)
  typeEdits.push(unmark)
  if (body === null) return true
  // Monty cannot await a function of the host, so the declaration becomes a wrapper that calls it under another name.
  // The wrapper also puts keyword arguments and defaults into the order of the parameters.
  const answer = `return ${mangledName(declaration.name)}(${declaration.parameters.map(({ name }) => name).join(', ')})`
  const span = { start: body.startIndex, end: body.endIndex }
  runEdits.push({ ...span, text: inBlock(definition, body, answer) })
  typeEdits.push({ ...span, text: inBlock(definition, body, 'return __any') })
  return true
}

/** A body on its own lines needs its indentation again, since edits put the replaced line breaks before the text. */
function inBlock(definition: SyntaxNode, body: SyntaxNode, text: string): string {
  const sameLine = body.startPosition.row === body.endPosition.row
  return sameLine ? text : ' '.repeat(definition.startPosition.column + 4) + text
}

function readSignature(definition: SyntaxNode, faults: LocatedFault[]): ExternalDeclaration {
  const name = definition.childForFieldName('name')?.text ?? ''
  const returned = definition.childForFieldName('return_type')
  const returnsSchema = returned === null ? undefined : typeSchema(returned)
  if (returned === null) faults.push(scriptFault(definition, 'E006', `external ${name} has no return annotation`))
  else if (returnsSchema === undefined) {
    faults.push(scriptFault(returned, 'E006', `external ${name} returns an unsupported type: ${returned.text}`))
  }
  const list = definition.childForFieldName('parameters')
  const parameters = list === null ? [] : partsOf(list)
  return {
    ...positionOf(definition),
    name,
    isAsync: definition.children[0]?.type === 'async',
    parameters: parameters.flatMap((parameter) => readParameter(parameter, name, faults)),
    returns: returned?.text ?? 'Any',
    returnsSchema: returnsSchema ?? {},
  }
}

function readParameter(node: SyntaxNode, external: string, faults: LocatedFault[]): ExternalParameter[] {
  if (node.type === 'keyword_separator' || node.type === 'positional_separator') return []
  const fail = (message: string): ExternalParameter[] => {
    faults.push(scriptFault(node, 'E006', `parameter ${node.text} of external ${external} ${message}`))
    return []
  }
  const annotation = node.childForFieldName('type')
  const nameNode = node.type === 'typed_default_parameter' ? node.childForFieldName('name') : partsOf(node)[0]
  if (node.type === 'identifier' || node.type === 'default_parameter') return fail('has no type annotation')
  if (annotation === null || nameNode?.type !== 'identifier')
    return fail('is *args or **kwargs; every parameter of an external needs a name of its own')
  if (nameNode.text === mangledName(external)) return fail('has a name that the sandbox needs; choose another')
  const schema = typeSchema(annotation)
  if (schema === undefined) return fail('has an unsupported type')
  const parameter = { name: nameNode.text, type: annotation.text, schema }
  const value = node.childForFieldName('value')
  if (value === null) return [parameter]
  const literal = pythonLiteral(value)
  if (literal === undefined) return fail('has a default that is no literal')
  const [misfit] = valueFaults(schema, literal.value, 'its default')
  return misfit === undefined ? [{ ...parameter, default: literal.value }] : fail(`has another default: ${misfit}`)
}

function isStub(body: SyntaxNode | null): boolean {
  if (body === null) return false
  const statements = partsOf(body).map((statement) => partsOf(statement)[0]?.type ?? statement.type)
  return ['ellipsis', 'string,ellipsis'].includes(statements.join())
}

/** Faults for declarations where they have no effect and would fail when the code runs. */
export function strayDeclarations(code: readonly SyntaxNode[]): LocatedFault[] {
  const faults = code.flatMap((statement) => Array.from(walk(statement), strayFault))
  return faults.filter((fault) => fault !== undefined)
}

function strayFault(node: SyntaxNode): LocatedFault | undefined {
  if (node.type === 'call' && grailName(node.childForFieldName('function')) === 'Input') {
    return scriptFault(node, 'E008', 'declares no input here; write `name: T = Input("name")` at the top level')
  }
  if (node.type !== 'decorator') return undefined
  const [mark] = partsOf(node)
  const endLine = (node.parent ?? node).endPosition.row + 1
  if (grailName(mark) === 'external') {
    const message = 'declares no external here; write `@external` and a def at the top level'
    return { ...scriptFault(node, 'E006', message), endLine }
  }
  const isCalled = mark?.type === 'call' && grailName(mark.childForFieldName('function')) === 'external'
  return isCalled ? { ...scriptFault(node, 'E006', 'write `@external` without parentheses'), endLine } : undefined
}
