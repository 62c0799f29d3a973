import type { Node, Tree } from 'web-tree-sitter'
import { z } from 'zod'
import { getOrMake } from '#platform/cached-answers.ts'
import {
  type ImportedName,
  importedNames,
  importStatementTypes,
  lastPart,
  type NameResolver,
  readImports,
} from './imported-names.ts'
import { moduleBindingsOf, type ModuleBindings } from './module-bindings.ts'
import { factNodesOf, passingOn, type TypedNode } from './fact-nodes.ts'
import { codeIn, plainStringText } from './python-nodes.ts'

const UsedNames = z.union([z.array(z.string()), z.literal('all')])

/**
 * Holds what one Python file uses of other modules, and what its own module binds: plain data, small enough to pass
 * between threads. A module is known by the last part of its name, so that its file is uses wherever it is: in `src/`,
 * in the top folder of an archive, or under another package's name.
 */
export const ModuleUses = z.strictObject({
  /** Lists, by the last part of a module's name, the names of it that are used, or says `all`. */
  modules: z.record(z.string(), UsedNames),
  /** Lists, by the number of leading dots, what is used of the package itself (`from . import x`). */
  packages: z.record(z.string(), UsedNames),
  binds: z.array(z.string()),
  exported: z.array(z.string()),
})
export type ModuleUses = z.infer<typeof ModuleUses>

/** `*` among the names means the whole module. */
type Wanted = Map<string, Set<string>>
type Uses = { modules: Wanted; packages: Wanted }

/**
 * Finds what `tree`, the parsed `source`, uses of other modules: imports, `module.name` in code, in strings
 * (`mock.patch("requests.compat.json")`), comments and docstrings, `getattr(module, "name")` and similar calls. A
 * module that is passed on as a value, imported by its name in a string or named as a pytest plugin counts as used
 * whole. Finds too much rather than too little.
 */
export function moduleUsesOf(tree: Tree, source: string, nodes = factNodesOf(tree)): ModuleUses {
  const { bindings, exported } = moduleBindingsOf(tree)
  const uses: Uses = { modules: new Map(), packages: new Map() }
  const imports = nodes.flatMap(({ type, node }) => (importStatementTypes.includes(type) ? importedNames(node) : []))
  for (const imported of imports) noteImport(imported, uses)
  const file: SearchedFile = { source, imported: readImports(imports, new Set()), uses }
  const hasEntryPoints = source.includes(pytestEntryPoints)
  const hasPlugins = source.includes(pytestPlugins)
  for (const { type, node } of nodes) {
    if (type === 'attribute') noteAttribute(node, file)
    else if (type === 'call') noteCall(node, file)
    else if (type === 'string' || type === 'comment') {
      const text = source.slice(node.startIndex, node.endIndex)
      notePaths(text, uses)
      if (hasEntryPoints) noteEntryPoints(text, uses)
    } else if (passingOn.has(type)) noteValues({ type, node }, file)
    if (hasPlugins && type === 'assignment') notePlugins(node, uses)
  }
  return {
    modules: listed(uses.modules),
    packages: listed(uses.packages),
    binds: namesOfModule(bindings),
    exported: exported ?? [],
  }
}

/** Returns the names that the module of a parsed Python text binds: the `binds` of its uses, for much less time. */
export function moduleNamesOf(tree: Tree): string[] {
  return namesOfModule(moduleBindingsOf(tree).bindings)
}

function namesOfModule(bindings: ModuleBindings['bindings']): string[] {
  return [...new Set(bindings.flatMap(({ scope, name }) => (scope === '' ? [name] : [])))]
}

/** Matches an import in a text that is not parsed: on one line, or in brackets. */
const writtenImport = /\bfrom[ \t]+([\w.]+)[ \t]+c?import[ \t]*(?:\(([^()]{1,4000})\)|([\w*][^\n;"'`]*))/g
/** Matches `import a.b as c`, and an import by name in a string. */
const wholeModule = /\bc?import[ \t]+([\w.]+)[ \t]+as\b|\b(?:import_module|importorskip|__import__)\(\s*["']([\w.]+)/g

/**
 * Finds what a text that is no Python file, or cannot be parsed, uses of modules: entry points in a configuration,
 * names and imports in documents, notebooks and Cython. A module that is renamed, or that pytest loads, counts as used
 * whole.
 */
export function moduleUsesInText(text: string): ModuleUses {
  const uses: Uses = { modules: new Map(), packages: new Map() }
  notePaths(text, uses)
  if (text.includes(pytestEntryPoints)) noteEntryPoints(text, uses)
  const code = text.replaceAll(/\\\r?\n/g, ' ').replaceAll(/#[^\n]*/g, '')
  for (const [, module = '', inBrackets, inLine = ''] of code.matchAll(writtenImport)) {
    for (const part of (inBrackets ?? inLine).split(',')) {
      const imported = /\w+|\*/.exec(part)?.[0]
      if (imported === undefined) continue
      noteImport({ module, imported }, uses)
      if (/\bas\b/.test(part)) note(uses.modules, imported, '*')
    }
  }
  for (const [, renamed, named = ''] of code.matchAll(wholeModule)) note(uses.modules, lastPart(renamed ?? named), '*')
  return { modules: listed(uses.modules), packages: listed(uses.packages), binds: [], exported: [] }
}

const pytestEntryPoints = 'pytest11'
/** Matches the module of an entry point: `name = "package.module"`, `name = module:function`. */
const entryPoint = /=[ \t]*["']?([A-Za-z_][\w.]*)["'\])}, \t]*$/gm

/** pytest loads the modules that its entry points name, and everything in them. */
function noteEntryPoints(text: string, uses: Uses): void {
  for (const [, module = ''] of text.matchAll(entryPoint)) note(uses.modules, lastPart(module), '*')
}

/** Stands among the names that are used of a module for the module: it is imported, whatever is used of it. */
export const moduleItself = ''

function listed(wanted: Wanted): Record<string, string[] | 'all'> {
  return Object.fromEntries([...wanted].map(([key, names]) => [key, names.has('*') ? 'all' : [...names]]))
}

function note(wanted: Wanted, module: string, name: string): void {
  getOrMake(wanted, module, () => new Set()).add(name)
}

function noteImport({ module, imported }: Pick<ImportedName, 'module' | 'imported'>, uses: Uses): void {
  noteChain(module.split('.'), uses)
  if (imported === undefined) return note(uses.modules, lastPart(module), moduleItself)
  if (/^\.+$/.test(module)) note(uses.packages, String(module.length), imported)
  else note(uses.modules, lastPart(module), imported)
}

/** Notes that `a.b.c` uses `b` of a module `a`, and `c` of a module `b`. */
function noteChain(parts: readonly string[], { modules }: Uses): void {
  for (const [at, name] of parts.entries()) {
    const module = parts[at - 1]
    if (module !== undefined && module !== '' && name !== '') note(modules, module, name)
  }
}

/** Limits the names in a dotted path; longer ones are not written by hand. */
const longestPath = 20

type SearchedFile = { source: string; imported: NameResolver; uses: Uses }

/** Returns the dotted path that a chain of attributes stands for; undefined unless it begins with an imported name. */
function pathOf(node: Node | null, { source, imported }: SearchedFile): string[] | undefined {
  if (node === null) return undefined
  const text = source.slice(node.startIndex, node.endIndex)
  if (!/^[\w.]+$/.test(text)) return /[([{"']/.test(text) && !text.includes('#') ? undefined : chainOf(node, imported)
  const [root = '', ...tail] = text.split('.')
  const isPath = imported.isImported(root) && (node.type === 'identifier' || node.type === 'attribute')
  return isPath ? [...imported.resolve(root).split('.').filter(Boolean), ...tail] : undefined
}

/** Reads a chain from the tree: it may go over lines, with comments between. */
function chainOf(node: Node, imported: NameResolver): string[] | undefined {
  const tail: string[] = []
  let part: Node | null = node
  while (part?.type === 'attribute' && tail.length < longestPath) {
    tail.unshift(part.childForFieldName('attribute')?.text ?? '')
    part = part.childForFieldName('object')
  }
  if (part?.type !== 'identifier' || !imported.isImported(part.text)) return undefined
  return [...imported.resolve(part.text).split('.').filter(Boolean), ...tail]
}

function noteAttribute(attribute: Node, file: SearchedFile): void {
  const path = pathOf(attribute, file) ?? []
  noteChain(path, file.uses)
  // It holds all names of the module.
  if (path.at(-1) === '__dict__') note(file.uses.modules, path.at(-2) ?? '', '*')
}

/** Notes a module that is passed on: `dir(module)`, `reload(module)`, `backends = [a, b]`. */
function noteValues({ type, node: holder }: TypedNode, file: SearchedFile): void {
  for (const value of holder.namedChildren) {
    const module = pathOf(value, file)?.at(-1)
    if (module === undefined) continue
    const called = type === 'argument_list' ? calledWith(holder) : undefined
    if (called === 'class') return
    if (!isOnlyAskedFor(value, called, holder)) note(file.uses.modules, module, '*')
  }
}

function calledWith(list: Node): string | undefined {
  const { parent } = list
  return parent?.type === 'class_definition' ? 'class' : parent?.childForFieldName('function')?.text
}

/** Is true in `isinstance(x, this)` and `getattr(this, "name")`, which takes one name only. */
function isOnlyAskedFor(value: Node, called: string | undefined, list: Node): boolean {
  if (called === 'isinstance' || called === 'issubclass') return true
  const [first, second] = list.namedChildren
  return called !== undefined && first?.id === value.id && plainStringText(second) !== undefined
}

const importingByName = new Set(['import_module', '__import__', 'importorskip', 'find_spec', 'run_module'])

/** Notes `getattr(module, "name")`, `patch.object(module, "name")`, and modules that are imported by a string. */
function noteCall(call: Node, file: SearchedFile): void {
  const { source, uses } = file
  if (!/["']|multiple/.test(source.slice(call.startIndex, call.endIndex))) return
  const [first, second] = call.childForFieldName('arguments')?.namedChildren ?? []
  const called = lastPart(call.childForFieldName('function')?.text ?? '')
  const text = plainStringText(first)
  if (text !== undefined && importingByName.has(called)) note(uses.modules, lastPart(text), '*')
  const name = plainStringText(second)
  const module = pathOf(first ?? null, file)?.at(-1)
  if (name !== undefined && module !== undefined) note(uses.modules, module, name)
  if (called !== 'multiple') return
  // `mock.patch.multiple("package.module", name=…)`
  const patched = text === undefined ? module : lastPart(text)
  for (const keyword of codeIn(call.childForFieldName('arguments'))) {
    const named = keyword.childForFieldName('name')?.text
    if (patched !== undefined && named !== undefined) note(uses.modules, patched, named)
  }
}

const pytestPlugins = 'pytest_plugins'

function notePlugins(assignment: Node, uses: Uses): void {
  if (assignment.childForFieldName('left')?.text !== pytestPlugins) return
  const names = assignment.descendantsOfType('string').flatMap((string) => plainStringText(string) ?? [])
  for (const name of names) note(uses.modules, lastPart(name), '*')
}

/** Matches a path as code and documents write it, or entry points do (`package.module:name`). */
const dottedPath = /(?<!\w)[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)+/g

function notePaths(text: string, uses: Uses): void {
  for (const [path] of text.matchAll(dottedPath)) noteChain(path.split(/[.:]/), uses)
}
