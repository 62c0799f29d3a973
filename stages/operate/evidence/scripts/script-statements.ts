import type { Node } from 'web-tree-sitter'
import type { Operand, Operation } from '../operations.ts'
import type { StatementGrammar } from '../statements.ts'

const heads = new Set(
  (
    'if_statement else_clause for_statement for_in_statement while_statement do_statement try_statement catch_clause finally_clause ' +
    'switch_statement switch_case switch_default with_statement labeled_statement function_declaration generator_function_declaration ' +
    'function_expression generator_function arrow_function method_definition class_declaration abstract_class_declaration class ' +
    'class_static_block interface_declaration enum_declaration internal_module module'
  ).split(' '),
)

const members = new Set(
  (
    'field_definition public_field_definition property_signature method_signature abstract_method_signature index_signature ' +
    'function_signature ambient_declaration decorator'
  ).split(' '),
)

/** The statements of JavaScript and TypeScript, whose grammars have the same names. */
export const scriptStatements: StatementGrammar = {
  heads,
  continuations: new Set(['else_clause', 'catch_clause', 'finally_clause']),
  isStatement: (type) => /_(?:statement|declaration)$/.test(type) || heads.has(type) || members.has(type),
  isToken: (type) => type === 'string' || type === 'template_string' || type === 'regex',
  quietTokens: new Set('string template_string number true false null undefined ( ) [ ] { } , :'.split(' ')),
  isNoCode: (type) => type === ';',
  classBody(node) {
    const definition = node.type === 'export_statement' ? node.childForFieldName('declaration') : node
    return definition !== null && /^(?:abstract_)?class_declaration$/.test(definition.type)
      ? definition.childForFieldName('body')
      : null
  },
  operationsIn: scriptOperationsIn,
}

const comparisons = new Set(['<', '>', '<=', '>=', '==', '!=', '===', '!=='])
const chains: Readonly<Record<string, 'and' | 'or'>> = { '&&': 'and', '||': 'or', '??': 'or' }

/** JavaScript compares two values at a time, so each comparison has two operands. */
function scriptOperationsIn(root: Node, until?: Node): { start: number; operation: Operation }[] {
  /** Parts of a chain that was already read: `a && b && c` is one chain, although its nodes are nested. */
  const merged = new Set<number>()
  const found: { start: number; operation: Operation }[] = []
  for (const node of root.descendantsOfType('binary_expression', root.startPosition, until?.startPosition)) {
    if (merged.has(node.id)) continue
    const operator = operatorOf(node)
    const start = node.startIndex - root.startIndex
    if (comparisons.has(operator)) found.push({ start, operation: { kind: 'comparison', operands: partsOf(node) } })
    const kind = chains[operator]
    if (kind !== undefined) found.push({ start, operation: { kind, operands: chainFrom(node, merged) } })
  }
  return found
}

function operatorOf(node: Node): string {
  return node.childForFieldName('operator')?.type ?? ''
}

function partsOf(node: Node): Operand[] {
  return [node.childForFieldName('left'), node.childForFieldName('right')].flatMap((one) =>
    one === null ? [] : [operandOf(one)],
  )
}

function chainFrom(node: Node, merged: Set<number>): Operand[] {
  const operator = operatorOf(node)
  const operands: Node[] = []
  for (let part: Node | null = node; part !== null;) {
    const right = part.childForFieldName('right')
    const left: Node | null = part.childForFieldName('left')
    if (right !== null) operands.push(right)
    const isPart: boolean = left?.type === 'binary_expression' && operatorOf(left) === operator
    if (left !== null && isPart) merged.add(left.id)
    else if (left !== null) operands.push(left)
    part = isPart ? left : null
  }
  return operands.toReversed().map(operandOf)
}

function operandOf(node: Node): Operand {
  return node.text.match(/[\w$]+|[^\w$\s]/gu) ?? []
}
