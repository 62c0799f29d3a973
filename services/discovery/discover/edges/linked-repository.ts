import type { CodeNode } from '#domain/code-node.ts'
import type { Reference } from './reference.ts'
import { type LanguageRules, rulesOf } from './language-rules.ts'
import { mapModules, type Module, type ModuleMap } from './module-map.ts'

/** A node of a file, by its index among the file's nodes. */
export type Place = { file: LinkedFile; index: number }

/** What an expression stands for, as far as it can be told without running it. */
export type Value =
  | { is: 'node'; place: Place }
  /** A value of a class; `basesOnly` for `super`. */
  | { is: 'instance'; place: Place; basesOnly?: true }
  | { is: 'module'; module: Module; rules: LanguageRules }
  /** Something that is surely not of this repository. */
  | { is: 'foreign' }
  /** Anything; with a name, the methods given to that name are its own (`const api = { get() {} }`). */
  | { is: 'unknown'; named?: { unit: string; name: string } }

/** The names that are bound in one node. */
export type Scope = {
  definitions: Map<string, number>
  imports: Map<string, Reference[]>
  stars: Reference[]
  locals: Map<string, Reference[]>
  /** What `self.x = …` in a class's methods says of the class, and where. */
  attributes: Map<string, { place: Place; reference: Reference }[]>
  bases: Reference[]
}

export type LinkedFile = {
  path: string
  rules: LanguageRules
  /** The file first; outer before inner. */
  nodes: readonly CodeNode[]
  parents: readonly (number | null)[]
  references: readonly Reference[]
  scopes: readonly Scope[]
}

/** The files of one language family that see each other's top-level names without an import: one file, or a Go package. */
export type Unit = {
  byQualifiedName: Map<string, Place>
  /** The files that bind a name at their top. */
  topNames: Map<string, LinkedFile[]>
}

export type LinkedRepository = {
  files: ReadonlyMap<string, LinkedFile>
  modules: ModuleMap
  units: ReadonlyMap<string, Unit>
  /** What a name means in a place, once it has been asked for. */
  known: Map<string, Value>
}

export type LinkInput = {
  /** Every path of the repository. */
  paths: readonly string[]
  /** Every node, those of a file together, the file first. */
  nodes: readonly CodeNode[]
  /** By path. */
  references: ReadonlyMap<string, readonly Reference[]>
  /** The text of the files that say how modules are found (`isModuleFile`), by path. */
  moduleFiles: ReadonlyMap<string, string>
}

/** Lays out what was found file by file, so that names can be looked up. */
export function openRepository(input: LinkInput): LinkedRepository {
  const files = new Map<string, LinkedFile>()
  for (const [path, nodes] of Map.groupBy(input.nodes, (node) => node.path)) {
    const rules = rulesOf(nodes[0]?.language ?? '')
    if (rules !== undefined) files.set(path, layOut(path, rules, nodes, input.references.get(path) ?? []))
  }
  const units = new Map<string, Unit>()
  for (const file of files.values()) {
    const key = file.rules.unitOf(file.path)
    const unit: Unit = units.get(key) ?? { byQualifiedName: new Map(), topNames: new Map() }
    const top = file.scopes[0]
    for (const name of new Set([...(top?.definitions.keys() ?? []), ...(top?.locals.keys() ?? [])]))
      append(unit.topNames, name, file)
    for (const [index, node] of file.nodes.entries())
      if (index > 0 && node.kind !== 'test') unit.byQualifiedName.set(node.qualifiedName, { file, index })
    units.set(key, unit)
  }
  return { files, modules: mapModules(input.paths, input.moduleFiles), units, known: new Map() }
}

function layOut(
  path: string,
  rules: LanguageRules,
  nodes: readonly CodeNode[],
  references: readonly Reference[],
): LinkedFile {
  const indexes = new Map(nodes.map((node, index) => [node.nodeId, index]))
  const parents = nodes.map(({ parentId }) => (parentId === null ? null : (indexes.get(parentId) ?? null)))
  const scopes = nodes.map(emptyScope)
  const file = { path, rules, nodes, parents, references, scopes }
  for (const [index, { name, kind }] of nodes.entries()) {
    const parent = parents[index]
    if (typeof parent === 'number' && kind !== 'test' && kind !== 'method') scopes[parent]?.definitions.set(name, index)
  }
  for (const reference of references) bind(reference, file)
  return file
}

function emptyScope(): Scope {
  return {
    definitions: new Map(),
    imports: new Map(),
    stars: [],
    locals: new Map(),
    attributes: new Map(),
    bases: [],
  }
}

function bind(reference: Reference, file: LinkedFile): void {
  const scope = file.scopes[reference.from]
  if (scope === undefined) return
  if (reference.kind === 'inherits') scope.bases.push(reference)
  if (reference.kind === 'import') {
    if (reference.name === '*') scope.stars.push(reference)
    else append(scope.imports, file.rules.boundName(reference), reference)
  }
  if (reference.kind !== 'local') return
  const [self = '', attribute] = reference.name.split('.')
  if (attribute === undefined) append(scope.locals, reference.name, reference)
  else if (file.rules.selfNames.has(self)) {
    const owner = enclosingClass(file, reference.from)
    const attributes = owner === null ? undefined : file.scopes[owner]?.attributes
    if (attributes !== undefined) append(attributes, attribute, { place: { file, index: reference.from }, reference })
  }
}

function append<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

const classKinds = new Set(['class', 'struct', 'interface', 'type', 'enum'])

export function isClass({ file, index }: Place): boolean {
  return classKinds.has(file.nodes[index]?.kind ?? '')
}

/** The nearest class at or around a node. */
export function enclosingClass(file: LinkedFile, index: number): number | null {
  let at: number | null | undefined = index
  while (typeof at === 'number' && !isClass({ file, index: at })) at = file.parents[at]
  return at ?? null
}
