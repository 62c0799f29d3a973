import { grailName } from './grail-name.ts'
import { pythonLiteral } from './python-literal.ts'
import type { InputDeclaration, LocatedFault } from './script-declarations.ts'
import { scriptFault } from './script-fault.ts'
import { typeSchema, withoutNull } from './script-type.ts'
import type { SourceEdit } from './source-edit.ts'
import { partsOf, positionOf, type SyntaxNode } from './syntax-node.ts'
import { valueFaults } from './tool-arguments.ts'

export type ReadDeclaration<T> = {
  declaration: T | undefined
  faults: LocatedFault[]
  runEdits: SourceEdit[]
  typeEdits: SourceEdit[]
}

/** The input that a module-level statement `name: T = Input("name"[, default=…])` declares; undefined for other code. */
export function inputOf(statement: SyntaxNode): ReadDeclaration<InputDeclaration> | undefined {
  const [assignment] = statement.type === 'expression_statement' ? partsOf(statement) : []
  const call = assignment?.type === 'assignment' ? assignment.childForFieldName('right') : null
  if (assignment === undefined || call?.type !== 'call') return undefined
  if (grailName(call.childForFieldName('function')) !== 'Input') return undefined
  const faults: LocatedFault[] = []
  const declaration = readInput(assignment, call, faults)
  const annotation = assignment.childForFieldName('type')
  const isNone = declaration?.default === null && annotation !== null
  return {
    declaration,
    faults,
    runEdits: [{ start: statement.startIndex, end: statement.endIndex, text: 'pass' }],
    typeEdits: [
      // What may be None is checked as such, also where the annotation does not say so.
      ...(isNone ? [{ start: annotation.endIndex, end: annotation.endIndex, text: ' | None' }] : []),
      { start: call.startIndex, end: call.endIndex, text: '__any' },
    ],
  }
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

function readArguments(
  call: SyntaxNode,
  expected: string,
  fail: Fail,
): { default: { value: unknown } | undefined } | undefined {
  const list = call.childForFieldName('arguments')
  const [first, second, more] = list === null ? [] : partsOf(list)
  const name = first === undefined ? undefined : pythonLiteral(first)?.value
  const shape = `write Input("${expected}") or Input("${expected}", default=…)`
  if (first === undefined || typeof name !== 'string')
    return fail(call, `an input is named by a plain string; ${shape}`)
  if (name !== expected)
    return fail(first, `Input(${JSON.stringify(name)}) is assigned to ${expected}; the names must be equal`)
  if (second === undefined) return { default: undefined }
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
