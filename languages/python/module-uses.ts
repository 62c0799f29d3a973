import type { Node, Tree } from 'web-tree-sitter'
import { z } from 'zod'
import { getOrMake } from '#platform/cached-answers.ts'
import { type ImportedName, importedNames, lastPart, type NameResolver, readImports } from './imported-names.ts'
import { moduleBindingsOf, type ModuleBindings } from './module-bindings.ts'
import { factNodesOf, nameAt, type Value } from './fact-nodes.ts'
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
  const imports = nodes.imports.flatMap(importedNames)
  for (const imported of imports) noteImport(imported, uses)
  const file: SearchedFile = { source, imported: readImports(imports, new Set()), uses }
  for (const root of nodes.roots) noteAttributes(root, file)
  const hasEntryPoints = source.includes(pytestEntryPoints)
  for (const { startIndex, endIndex } of nodes.texts) {
    const text = source.slice(startIndex, endIndex)
    notePaths(text, uses)
    if (hasEntryPoints) noteEntryPoints(text, uses)
  }
  for (const value of nodes.values) noteValue(value, file)
  for (const { index } of source.matchAll(callsByName)) noteCall(tree.rootNode.descendantForIndex(index, index), file)
  if (source.includes(pytestPlugins)) notePlugins(tree, uses)
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

/** Returns the dotted path that a name or a chain of attributes stands for; undefined unless it begins with an imported name. */
function pathOf(node: Node, { source, imported }: SearchedFile): string[] | undefined {
  if (!imported.isImported(nameAt(source, node.startIndex))) return undefined
  const text = source.slice(node.startIndex, node.endIndex)
  if (!/^[\w.]+$/.test(text)) return /[([{"']/.test(text) && !text.includes('#') ? undefined : chainOf(node, imported)
  return node.type === 'identifier' || node.type === 'attribute' ? resolved(text, imported) : undefined
}

function resolved(path: string, imported: NameResolver): string[] {
  const [root = '', ...tail] = path.split('.')
  return [...imported.resolve(root).split('.').filter(Boolean), ...tail]
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

/** Matches a path that has nothing between its names and dots, as nearly all have, to its end. */
const plainPath = /\w+(?:\.\w+)+(?![\w.\u0080-\uffff]|\s*[.\\#])/y

/** Notes what is used by all attributes that begin with this name: of `a.b.c` that is `a.b`, too. */
function noteAttributes(root: Node, file: SearchedFile): void {
  const { source, imported, uses } = file
  if (!imported.isImported(nameAt(source, root.startIndex))) return
  plainPath.lastIndex = root.startIndex
  const plain = plainPath.exec(source)?.[0]
  const path = plain === undefined ? (pathOf(longestChain(root), file) ?? []) : resolved(plain, imported)
  noteChain(path, uses)
  // It holds all names of the module.
  for (const [at, name] of path.entries()) if (name === '__dict__') note(uses.modules, path[at - 1] ?? '', '*')
}

function longestChain(root: Node): Node {
  let chain = root
  for (let around = root.parent; around?.type === 'attribute'; around = around.parent) {
    if (around.startIndex !== root.startIndex) break
    chain = around
  }
  return chain
}

/**
 * Notes a module that is passed on: `dir(module)`, `reload(module)`, `backends = [a, b]`; and its name in `getattr(module, "name")` or
 * `patch.object(module, "name")`. That it is passed to `isinstance` says nothing.
 */
function noteValue({ how, node }: Value, file: SearchedFile): void {
  if (how === 'kept') return
  const module = pathOf(node, file)?.at(-1)
  if (module === undefined) return
  const list = how === 'argument_list' ? node.parent : null
  const owner = list?.parent
  if (owner?.type === 'class_definition') return
  const called = owner?.childForFieldName('function')?.text
  const [first, second] = list?.namedChildren ?? []
  const name = called !== undefined && first?.id === node.id ? plainStringText(second) : undefined
  if (name !== undefined) note(file.uses.modules, module, name)
  else if (called !== 'isinstance' && called !== 'issubclass') note(file.uses.modules, module, '*')
}

/** Matches calls that import by a string, and `mock.patch.multiple`, which names attributes by keywords. */
const callsByName = /(?<!\w)(?:import_module|__import__|importorskip|find_spec|run_module|multiple)(?=\s*\()/g

function noteCall(name: Node | null, file: SearchedFile): void {
  const callee = name?.parent?.type === 'attribute' ? name.parent : name
  const call = callee?.parent
  if (call?.type !== 'call' || call.childForFieldName('function')?.id !== callee?.id) return
  const { uses } = file
  const list = call.childForFieldName('arguments')
  const first = list?.namedChildren[0]
  const text = plainStringText(first)
  if (name?.text !== 'multiple') {
    if (text !== undefined) note(uses.modules, lastPart(text), '*')
    return
  }
  // `mock.patch.multiple("package.module", name=…)`
  const patched = text === undefined ? first && pathOf(first, file)?.at(-1) : lastPart(text)
  for (const keyword of codeIn(list)) {
    const named = keyword.childForFieldName('name')?.text
    if (patched !== undefined && named !== undefined) note(uses.modules, patched, named)
  }
}

const pytestPlugins = 'pytest_plugins'

function notePlugins({ rootNode }: Tree, uses: Uses): void {
  for (const assignment of rootNode.descendantsOfType('assignment')) {
    if (assignment.childForFieldName('left')?.text !== pytestPlugins) continue
    const names = assignment.descendantsOfType('string').flatMap((string) => plainStringText(string) ?? [])
    for (const name of names) note(uses.modules, lastPart(name), '*')
  }
}

/** Matches a path as code and documents write it, or entry points do (`package.module:name`). */
const dottedPath = /(?<!\w)[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)+/g

function notePaths(text: string, uses: Uses): void {
  for (const [path] of text.matchAll(dottedPath)) noteChain(path.split(/[.:]/), uses)
}
