import { folderOf } from '#domain/repo-path.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { Reference } from './find-references.ts'
import { type LanguageRules, rulesOf } from './language-rules.ts'
import { mapModules, type Module, type ModuleMap } from './module-map.ts'

/** A node of a file, by its index among the file's nodes. */
export type Place = { file: LinkedFile; index: number }

/** The value of an expression, as far as it is known without running it. */
export type Value =
  | { is: 'node'; place: Place }
  /** A value of a class; `basesOnly` for `super`. */
  | { is: 'instance'; place: Place; basesOnly?: true }
  | { is: 'module'; module: Module; rules: LanguageRules }
  | { is: 'foreign' }
  /** This may be anything; with a name, the methods given to that name are its own (`const api = { get() {} }`). */
  | { is: 'unknown'; named?: { unit: string; name: string } }

/** Holds what binds a name in one node; `definition` is the index of a node. */
export type Binding = { definition?: number; imports?: Reference[]; locals?: Reference[] }

export type Scope = {
  names: Map<string, Binding>
  stars?: Reference[]
  /** The attributes that `self.x = …` in methods gives a class, and where. */
  attributes?: Map<string, { place: Place; reference: Reference }[]>
  bases?: Reference[]
}

export type LinkedFile = {
  path: string
  rules: LanguageRules
  /** The file comes first, and outer nodes before inner ones. */
  nodes: readonly CodeNode[]
  parents: readonly (number | null)[]
  references: readonly Reference[]
  /** Holds scopes by the index of their node; most nodes bind nothing. */
  scopes: ReadonlyMap<number, Scope>
  known: Map<string, Value>
}

/** The files of one language family that see each other's top-level names without an import: one file, or a Go package. */
export type Unit = {
  byQualifiedName: Map<string, Place>
  topNames: Map<string, LinkedFile[]>
}

export type LinkedRepository = {
  files: ReadonlyMap<string, LinkedFile>
  modules: ModuleMap
  units: ReadonlyMap<string, Unit>
  /** All names that any file binds at its top level; modules have no others. */
  topNames: ReadonlySet<string>
  moduleOf(file: LinkedFile, path: string): Module | undefined
}

export type LinkInput = {
  paths: readonly string[]
  /** Every node, those of a file together, the file first. */
  nodes: readonly CodeNode[]
  references: ReadonlyMap<string, readonly Reference[]>
  /** The texts of the files that configure where modules lie (`isModuleFile`), by path. */
  moduleFiles: ReadonlyMap<string, string>
}

/** Arranges what was found file by file, so that names can be looked up. `pause` is awaited for every file. */
export async function openRepository(input: LinkInput, pause: () => Promise<void>): Promise<LinkedRepository> {
  const files = new Map<string, LinkedFile>()
  const units = new Map<string, Unit>()
  const topNames = new Set<string>()
  for (const [path, nodes] of Map.groupBy(input.nodes, (node) => node.path)) {
    await pause()
    const rules = rulesOf(nodes[0]?.language ?? '')
    if (rules === undefined) continue
    const file = layOut(path, rules, nodes, input.references.get(path) ?? [])
    files.set(path, file)
    addToUnit(file, units)
    for (const name of file.scopes.get(0)?.names.keys() ?? []) topNames.add(name)
  }
  const modules = mapModules(input.paths, input.moduleFiles)
  return { files, modules, units, topNames, moduleOf: moduleFinder(modules) }
}

function addToUnit(file: LinkedFile, units: Map<string, Unit>): void {
  const unit = getOrMake(units, file.rules.unitOf(file.path), () => ({
    byQualifiedName: new Map(),
    topNames: new Map(),
  }))
  for (const [name, { definition, locals }] of file.scopes.get(0)?.names ?? [])
    if (definition !== undefined || locals !== undefined) getOrMake(unit.topNames, name, () => []).push(file)
  for (const [index, node] of file.nodes.entries())
    if (index > 0 && node.kind !== 'test') unit.byQualifiedName.set(node.qualifiedName, { file, index })
}

/** A path means the same module in all files of a folder. */
function moduleFinder(modules: ModuleMap): LinkedRepository['moduleOf'] {
  const found = new Map<string, Map<string, Module | undefined>>()
  return ({ path: from, rules }, path) => {
    const known = getOrMake(found, `${rules.family} ${folderOf(from)}`, () => new Map())
    if (!known.has(path)) known.set(path, rules.moduleOf(from, path, modules))
    return known.get(path)
  }
}

function layOut(
  path: string,
  rules: LanguageRules,
  nodes: readonly CodeNode[],
  references: readonly Reference[],
): LinkedFile {
  const indexes = new Map(nodes.map((node, index) => [node.nodeId, index]))
  const parents = nodes.map(({ parentId }) => (parentId === null ? null : (indexes.get(parentId) ?? null)))
  const scopes = new Map<number, Scope>()
  const file = { path, rules, nodes, parents, references, scopes, known: new Map<string, Value>() }
  for (const [index, { name, kind }] of nodes.entries()) {
    const parent = parents[index]
    if (typeof parent === 'number' && kind !== 'test' && kind !== 'method')
      bindingOf(name, scopeOf(parent, scopes)).definition = index
  }
  for (const reference of references) bind(reference, file, scopes)
  return file
}

function scopeOf(index: number, scopes: Map<number, Scope>): Scope {
  return getOrMake(scopes, index, () => ({ names: new Map() }))
}

function bindingOf(name: string, { names }: Scope): Binding {
  return getOrMake(names, name, () => ({}))
}

function bind(reference: Reference, file: LinkedFile, scopes: Map<number, Scope>): void {
  const { kind, from, name } = reference
  if (kind === 'call' || from >= file.nodes.length) return
  const scope = () => scopeOf(from, scopes)
  if (kind === 'inherits') (scope().bases ??= []).push(reference)
  if (kind === 'import') {
    if (name === '*') (scope().stars ??= []).push(reference)
    else (bindingOf(file.rules.boundName(reference), scope()).imports ??= []).push(reference)
  }
  if (kind !== 'local') return
  const [self = '', attribute] = name.split('.')
  if (attribute === undefined) (bindingOf(name, scope()).locals ??= []).push(reference)
  else if (file.rules.selfNames.has(self)) {
    const owner = enclosingClass(file, from)
    if (owner === null) return
    const attributes = (scopeOf(owner, scopes).attributes ??= new Map())
    getOrMake(attributes, attribute, () => []).push({ place: { file, index: from }, reference })
  }
}

const classKinds = new Set(['class', 'struct', 'interface', 'type', 'enum'])

export function isClass({ file, index }: Place): boolean {
  return classKinds.has(file.nodes[index]?.kind ?? '')
}

export function enclosingClass(file: LinkedFile, index: number): number | null {
  let at: number | null | undefined = index
  while (typeof at === 'number' && !isClass({ file, index: at })) at = file.parents[at]
  return at ?? null
}
