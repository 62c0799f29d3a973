import type { Node } from 'web-tree-sitter'
import { codeIn } from './python-nodes.ts'

export type ImportedName = {
  /** Names the module as written: `a.b`, `.`, `..m`; `__future__` too. */
  module: string
  /** Names what is imported from the module: undefined for `import module`, `*` for everything. */
  imported: string | undefined
  /** Is the name bound here: of `import a.b` it is `a`; of `from m import *` it is `*`. */
  name: string
  alias: string | undefined
  node: Node
}

export const importStatementTypes = ['import_statement', 'import_from_statement', 'future_import_statement']

/** Returns the names that one import statement binds, in order; none for a node that is no import statement. */
export function importedNames(statement: Node): ImportedName[] {
  const parts = statement.childrenForFieldName('name')
  if (statement.type === 'import_statement') return parts.map(importedModule)
  if (!importStatementTypes.includes(statement.type)) return []
  const module = moduleOf(statement)
  const wildcard = statement.namedChildren.find((child) => child.type === 'wildcard_import')
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

export function lastPart(dotted: string): string {
  return dotted.slice(dotted.lastIndexOf('.') + 1)
}

export type NameResolver = ReturnType<typeof readImports>

const builtins = new Set(
  `object property staticmethod classmethod super type Exception BaseException ValueError TypeError KeyError RuntimeError
  OSError IOError LookupError AttributeError NotImplementedError ArithmeticError Warning UserWarning DeprecationWarning dict
  list tuple set frozenset int float str bytes bool`.split(/\s+/),
)

/** Reads all imports of a file, also those in functions and conditions. `defined` are the names of its definitions. */
export function readImports(imports: readonly ImportedName[], defined: ReadonlySet<string>) {
  const names = new Map<string, string>()
  const modules = new Set<string>()
  for (const { module, imported, name, alias } of imports) {
    if (imported === undefined || !module.startsWith('.')) modules.add(module)
    if (imported === '*') continue
    const whole = imported === undefined ? (alias === undefined ? name : module) : `${asPrefix(module)}${imported}`
    names.set(name, whole)
  }
  return {
    modules: [...modules],
    isImported: (name: string) => names.has(name),
    /**
     * Returns the dotted name that an expression such as `c.command` stands for: `click.command` after `import click as c`. What
     * the repository defines itself has a leading dot (`.shop.price` after `from .shop import price`), a variable of the
     * file, whose value is unknown, a leading `?`. Names of Python's builtins stay as they are.
     */
    resolve(expression: string): string {
      const [root = '', ...rest] = expression.split('.')
      const known = names.get(root) ?? (defined.has(root) ? `.${root}` : builtins.has(root) ? root : `?${root}`)
      return [known, ...rest].join('.')
    },
  }
}

/** Relative imports of any depth get one leading dot. */
function asPrefix(module: string): string {
  if (!module.startsWith('.')) return `${module}.`
  const path = module.replace(/^\.+/, '')
  return path === '' ? '.' : `.${path}.`
}

/** Returns the dotted name `a.b.c` of an expression, also of a call or subscript of one; undefined for anything else. */
export function dottedName(expression: Node): string | undefined {
  let node = expression
  while (node.type === 'call' || node.type === 'subscript' || node.type === 'parenthesized_expression') {
    const inner = node.childForFieldName('function') ?? node.childForFieldName('value') ?? codeIn(node)[0]
    if (inner === undefined) return undefined
    node = inner
  }
  const isDotted = /^[\w.]+$/.test(node.text)
  return isDotted && (node.type === 'identifier' || node.type === 'attribute') ? node.text : undefined
}
