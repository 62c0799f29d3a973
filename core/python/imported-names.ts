import type { Node } from 'web-tree-sitter'
import { codeIn } from './docstring-expression.ts'
import { importedNames } from './import-statements.ts'

/** What the names of one file stand for. */
export type ImportedNames = {
  /**
   * The dotted name that an expression such as `c.command` stands for: `click.command` after `import click as c`, and
   * with a leading dot for what the repository defines itself: `.shop.price` after `from .shop import price`. A variable
   * of the file has a leading `?`, since what it holds is not known here; other names are those of Python's builtins.
   */
  resolve(expression: string): string
  /** The module that a name of this file was imported from, or undefined for a name that was not imported. */
  isImported(name: string): boolean
  /** Modules that are imported from outside, by their full dotted names. */
  modules: string[]
}

const builtins = new Set(
  `object property staticmethod classmethod super type Exception BaseException ValueError TypeError KeyError RuntimeError
  OSError IOError LookupError AttributeError NotImplementedError ArithmeticError Warning UserWarning DeprecationWarning dict
  list tuple set frozenset int float str bytes bool`.split(/\s+/),
)

/** Reads the imports of the whole file, also those inside of functions and conditions. `defined` are its definitions. */
export function readImports(statements: readonly Node[], defined: ReadonlySet<string>): ImportedNames {
  const names = new Map<string, string>()
  const modules = new Set<string>()
  for (const { module, imported, name, alias } of statements.flatMap(importedNames)) {
    if (imported === undefined || !module.startsWith('.')) modules.add(module)
    if (imported === '*') continue
    const whole = imported === undefined ? (alias === undefined ? name : module) : `${asPrefix(module)}${imported}`
    names.set(name, whole)
  }
  return {
    modules: [...modules],
    isImported: (name) => names.has(name),
    resolve(expression) {
      const [root = '', ...rest] = expression.split('.')
      const known = names.get(root) ?? (defined.has(root) ? `.${root}` : builtins.has(root) ? root : `?${root}`)
      return [known, ...rest].join('.')
    },
  }
}

/** `..shop` is as much the repository's own as `.shop`: one dot says so. */
function asPrefix(module: string): string {
  if (!module.startsWith('.')) return `${module}.`
  const path = module.replace(/^\.+/, '')
  return path === '' ? '.' : `.${path}.`
}

/** The dotted name of an expression: `a.b.c`, also of a call or subscript of one; undefined for anything else. */
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
