import { pythonLiteral } from './python-literal.ts'
import type { InputDeclaration, ScriptFault } from './script-declarations.ts'
import { scriptFault } from './script-rules.ts'
import { typeSchema, withoutNull } from './script-type.ts'
import type { SourceEdit } from './source-edit.ts'
import { partsOf, positionOf, type SyntaxNode } from './syntax-node.ts'

export type ReadDeclaration<T> = {
  declaration: T | undefined
  faults: ScriptFault[]
  runEdits: SourceEdit[]
  typeEdits: SourceEdit[]
}

/** The input that a module-level statement `name: T = Input("name"[, default=…])` declares; undefined for other code. */
export function inputOf(statement: SyntaxNode): ReadDeclaration<InputDeclaration> | undefined {
  const [assignment] = statement.type === 'expression_statement' ? partsOf(statement) : []
  const call = assignment?.type === 'assignment' ? assignment.childForFieldName('right') : null
  if (assignment === undefined || call?.type !== 'call' || call.childForFieldName('function')?.text !== 'Input')
    return undefined
  const faults: ScriptFault[] = []
  const declaration = readInput(assignment, call, faults)
  return {
    declaration,
    faults,
    runEdits: [{ start: statement.startIndex, end: statement.endIndex, text: 'pass' }],
    typeEdits: [{ start: call.startIndex, end: call.endIndex, text: '__any' }],
  }
}

function readInput(assignment: SyntaxNode, call: SyntaxNode, faults: ScriptFault[]): InputDeclaration | undefined {
  const fail = (node: SyntaxNode, message: string): undefined => {
    faults.push(scriptFault(node, 'E008', message))
  }
  const left = assignment.childForFieldName('left')
  const annotation = assignment.childForFieldName('type')
  const name = left?.type === 'identifier' ? left.text : ''
  if (name === '') return fail(assignment, 'an input is assigned to one plain name')
  if (annotation === null) return fail(assignment, `input ${name} has no type annotation`)
  const schema = typeSchema(annotation)
  if (schema === undefined) return fail(annotation, `input ${name} has an unsupported type: ${annotation.text}`)
  const given = readArguments(call)
  if (given === undefined) return fail(call, `input ${name} takes its name and a literal default, nothing else`)
  if (given.name !== name)
    return fail(call, `Input(${JSON.stringify(given.name)}) is assigned to ${name}; the names must be equal`)
  const common = { ...positionOf(assignment), name, type: annotation.text }
  if (given.default === undefined) return { ...common, schema, optional: false }
  const isNone = given.default.value === null
  return { ...common, schema: isNone ? withoutNull(schema) : schema, optional: true, default: given.default.value }
}

function readArguments(call: SyntaxNode): { name: string; default: { value: unknown } | undefined } | undefined {
  const list = call.childForFieldName('arguments')
  const [first, second, more] = list === null ? [] : partsOf(list)
  const name = first?.type === 'string' ? pythonLiteral(first)?.value : undefined
  if (typeof name !== 'string' || more !== undefined) return undefined
  if (second === undefined) return { name, default: undefined }
  const value = second.childForFieldName('value')
  if (second.type !== 'keyword_argument' || second.childForFieldName('name')?.text !== 'default') return undefined
  const literal = value === null ? undefined : pythonLiteral(value)
  return literal === undefined ? undefined : { name, default: literal }
}
