import { grailName } from './grail-name.ts'
import { hostFunctionName } from './host-function-name.ts'
import { pythonLiteral } from './python-literal.ts'
import type { ReadDeclaration } from './parse-input.ts'
import type { ExternalDeclaration, ExternalParameter, LocatedFault } from './script-declarations.ts'
import { scriptFault } from './script-fault.ts'
import { typeSchema } from './script-type.ts'
import { partsOf, positionOf, type SyntaxNode } from './syntax-node.ts'
import { valueFaults } from './tool-arguments.ts'

/** The external that a module-level `@external` definition declares; undefined for other code. */
export function externalOf(statement: SyntaxNode): ReadDeclaration<ExternalDeclaration> | undefined {
  const decorators = partsOf(statement).filter((part) => part.type === 'decorator')
  const mark = decorators.find((decorator) => grailName(partsOf(decorator)[0]) === 'external')
  const definition = statement.type === 'decorated_definition' ? statement.childForFieldName('definition') : null
  if (mark === undefined || definition?.type !== 'function_definition') return undefined
  const faults: LocatedFault[] = []
  if (decorators.length > 1) faults.push(scriptFault(statement, 'E006', 'an external has no other decorator'))
  const declaration = readSignature(definition, faults)
  const body = definition.childForFieldName('body')
  if (!isStub(body))
    faults.push(scriptFault(body ?? definition, 'E007', `the body of external ${declaration.name} is not \`...\``))
  const unmark = { start: mark.startIndex, end: mark.endIndex, text: '' }
  if (body === null) return { declaration, faults, runEdits: [unmark], typeEdits: [unmark] }
  // Monty cannot await a host function, so the declaration becomes a wrapper that calls one under another name;
  // the wrapper also puts keyword arguments and defaults into the order of the parameters.
  const answer = `return ${hostFunctionName(declaration.name)}(${declaration.parameters.map(({ name }) => name).join(', ')})`
  const span = { start: body.startIndex, end: body.endIndex }
  return {
    declaration,
    faults,
    runEdits: [unmark, { ...span, text: inBlock(definition, body, answer) }],
    typeEdits: [unmark, { ...span, text: inBlock(definition, body, 'return __any') }],
  }
}

/** A body that starts on a line of its own keeps its indentation when the line breaks inside it move before the text. */
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
    return fail('has no fixed place; the host takes each argument by its own name')
  if (nameNode.text === hostFunctionName(external)) return fail('has a name that the sandbox needs; choose another')
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
  return (
    statements.at(-1) === 'ellipsis' &&
    (statements.length === 1 || (statements.length === 2 && statements[0] === 'string'))
  )
}
