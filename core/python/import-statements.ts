import type { Node } from 'web-tree-sitter'

/** One name that an import statement binds. */
export type ImportedName = {
  /** The module as written: `a.b`, `.`, `..m`; `__future__` too. */
  module: string
  /** What is taken of the module: undefined for `import module`, `*` for everything. */
  imported: string | undefined
  /** The name bound here: of `import a.b` it is `a`; of `from m import *` it is `*`. */
  name: string
  /** The name after `as`. */
  alias: string | undefined
  /** The part of the statement that binds it. */
  node: Node
}

/** The node types of import statements. */
export const importStatementTypes = ['import_statement', 'import_from_statement', 'future_import_statement']

/** The names that one import statement binds, in order; none for a node that is no import statement. */
export function importedNames(statement: Node): ImportedName[] {
  const parts = statement.childrenForFieldName('name').filter((part) => part !== null)
  if (statement.type === 'import_statement') return parts.map(importedModule)
  if (!importStatementTypes.includes(statement.type)) return []
  const module = moduleOf(statement)
  const wildcard = statement.namedChildren.find((child) => child?.type === 'wildcard_import')
  if (wildcard) return [{ module, imported: '*', name: '*', alias: undefined, node: wildcard }]
  return parts.map((node) => {
    const { path, alias } = nameParts(node)
    return { module, imported: path, name: alias ?? path, alias, node }
  })
}

function importedModule(node: Node): ImportedName {
  const { path, alias } = nameParts(node)
  return { module: path, imported: undefined, name: alias ?? path.split('.')[0] ?? path, alias, node }
}

function moduleOf(statement: Node): string {
  if (statement.type === 'future_import_statement') return '__future__'
  return withoutBlanks(statement.childForFieldName('module_name')?.text ?? '')
}

function nameParts(part: Node): { path: string; alias: string | undefined } {
  const path = part.type === 'aliased_import' ? (part.childForFieldName('name') ?? part) : part
  return { path: withoutBlanks(path.text), alias: part.childForFieldName('alias')?.text }
}

/** Python allows blanks and line continuations around the dots of a module's name. */
function withoutBlanks(name: string): string {
  return name.replaceAll(/[\s\\]+/g, '')
}
