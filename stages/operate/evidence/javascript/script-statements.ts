import { scriptOperations } from '../operations.ts'
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
  operations: scriptOperations,
}
