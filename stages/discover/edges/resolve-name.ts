import {
  enclosingClass,
  isClass,
  type LinkedFile,
  type LinkedRepository,
  type Place,
  type Value,
} from './linked-repository.ts'
import type { Module } from './module-map.ts'
import type { Reference } from './find-references.ts'

const foreign: Value = { is: 'foreign' }
const unknown: Value = { is: 'unknown' }

export function follow(path: string, place: Place, repository: LinkedRepository): Value {
  const [head = '', ...rest] = path.split('.')
  let value = called(head, (name) => headValue(name, place, repository), repository)
  for (const step of rest) {
    const owner = value
    value = called(step, (name) => memberOf(owner, name, repository), repository)
  }
  return value
}

function called(step: string, find: (name: string) => Value, repository: LinkedRepository): Value {
  if (!step.endsWith('()')) return find(step)
  const value = find(step.slice(0, -2))
  if (value.is === 'foreign' || (value.is === 'instance' && value.basesOnly)) return value
  if (value.is !== 'node') return unknown
  if (isClass(value.place)) return { is: 'instance', place: value.place }
  const [result] = localsOf('()', value.place) ?? []
  return result === undefined ? unknown : valueOfLocal(result, value.place, repository)
}

function headValue(name: string, place: Place, repository: LinkedRepository): Value {
  const { file, index } = place
  const around = file.rules.selfNames.has(name) || name === 'super' ? enclosingClass(file, index) : null
  if (around === null) return lookUp(name, place, repository)
  const self = { is: 'instance', place: { file, index: around } } as const
  return name === 'super' ? { ...self, basesOnly: true } : self
}

/** Resolves a bare name at a position: the innermost node that binds it decides. */
export function lookUp(name: string, place: Place, repository: LinkedRepository): Value {
  return remembered(`${place.index} ${name}`, place.file.known, { meanwhile: unknown }, () =>
    findName(name, place, repository),
  )
}

/** Computes a value once. `meanwhile` is the result for a request during that computation, since names may refer to each other in a cycle. */
function remembered(key: string, known: Map<string, Value>, options: { meanwhile: Value }, find: () => Value): Value {
  const before = known.get(key)
  if (before !== undefined) return before
  known.set(key, options.meanwhile)
  const value = find()
  known.set(key, value)
  return value
}

function findName(name: string, { file, index }: Place, repository: LinkedRepository): Value {
  for (let at: number | null | undefined = index; typeof at === 'number'; at = file.parents[at]) {
    const hidden = isClass({ file, index: at }) && !(at === index && file.rules.classBodyIsScope)
    const bound = hidden ? undefined : boundIn(name, { file, index: at }, repository)
    if (bound !== undefined) return bound
  }
  const unit = repository.units.get(file.rules.unitOf(file.path))
  for (const other of nearestFirst(unit?.topNames.get(name) ?? [], file)) {
    const bound = definedIn(name, other, repository)
    if (bound !== undefined) return bound
  }
  return starred(name, file, repository) ?? foreign
}

/** A package may define a name once for every system: that of files named for the same one as the asker's comes first. */
function nearestFirst(files: readonly LinkedFile[], asker: LinkedFile): LinkedFile[] {
  const system = (path: string) => /_([a-z0-9]+)(?:_test)?\.go$/.exec(path)?.[1]
  const own = system(asker.path)
  const rank = ({ path }: LinkedFile) => (own === undefined || system(path) === own ? 0 : 1)
  return files.toSorted((left, right) => rank(left) - rank(right))
}

/** The top-level definitions and variables of a file of the same package, without its imports. */
function definedIn(name: string, file: LinkedFile, repository: LinkedRepository): Value | undefined {
  const index = file.scopes.get(0)?.names.get(name)?.definition
  if (index !== undefined) return { is: 'node', place: { file, index } }
  return localValue(name, { file, index: 0 }, repository)
}

function boundIn(name: string, place: Place, repository: LinkedRepository): Value | undefined {
  const { file, index } = place
  const { definition, imports } = file.scopes.get(index)?.names.get(name) ?? {}
  if (definition !== undefined) return { is: 'node', place: { file, index: definition } }
  if (imports !== undefined) return agreed(imports.map((reference) => valueOfImport(reference, file, repository)))
  return localValue(name, place, repository)
}

/** Picks, from alternative imports of one name, the one from this repository; unknown when there are several. */
function agreed(values: readonly Value[]): Value {
  const own = values.filter((value) => value.is !== 'foreign')
  const distinct = new Map(own.map((value) => [identityOf(value), value]))
  const [only, ...others] = distinct.values()
  return others.length > 0 ? unknown : (only ?? foreign)
}

function identityOf(value: Value): string {
  if (value.is === 'module') return value.module.paths.join()
  return 'place' in value ? `${value.place.file.path} ${value.place.index}` : value.is
}

function localsOf(name: string, { file, index }: Place): Reference[] | undefined {
  return file.scopes.get(index)?.names.get(name)?.locals
}

function localValue(name: string, place: Place, repository: LinkedRepository): Value | undefined {
  const locals = localsOf(name, place)
  const [only] = locals ?? []
  if (locals === undefined || only === undefined) return undefined
  const named = { unit: place.file.rules.unitOf(place.file.path), name }
  const value = locals.length === 1 ? valueOfLocal(only, place, repository) : unknown
  return value.is === 'unknown' ? { ...value, named: value.named ?? named } : value
}

/** The value of a name, from its declared type or else from the expression assigned to it. */
function valueOfLocal({ type, value }: Reference, place: Place, repository: LinkedRepository): Value {
  if (type !== undefined) {
    const declared = follow(type, place, repository)
    if (declared.is === 'node') return isClass(declared.place) ? { is: 'instance', place: declared.place } : unknown
    return declared.is === 'foreign' ? foreign : unknown
  }
  return value === undefined ? unknown : follow(value, place, repository)
}

function valueOfImport(reference: Reference, file: LinkedFile, repository: LinkedRepository): Value {
  const { module: path, name, alias } = reference
  if (path === undefined) return name === alias ? unknown : lookUp(name, { file, index: 0 }, repository)
  const bound = file.rules.bindsTopPackage && name === '' && alias === undefined ? (path.split('.')[0] ?? path) : path
  const module = repository.moduleOf(file, bound)
  if (module === undefined) return foreign
  return name === '' ? { is: 'module', module, rules: file.rules } : moduleMember(module, name, file, repository)
}

/** Resolves `name` in a module, as seen from a file of the same language. */
export function moduleMember(
  module: Module,
  name: string,
  { rules }: Pick<LinkedFile, 'rules'>,
  repository: LinkedRepository,
): Value {
  for (const file of filesWith(name, module, repository)) {
    const value = remembered(`.${name}`, file.known, { meanwhile: foreign }, () => fileMember(name, file, repository))
    if (value.is !== 'foreign') return value
  }
  const inner = rules.submodule(module, name, repository.modules)
  return inner === undefined ? foreign : { is: 'module', module: inner, rules }
}

/** Only the package's files that have the name, since large packages are searched often. */
function filesWith(name: string, { paths }: Module, { files, units }: LinkedRepository): LinkedFile[] {
  const first = files.get(paths.find((path) => files.has(path)) ?? '')
  if (first === undefined || paths.length === 1) return first === undefined ? [] : [first]
  const having = units.get(first.rules.unitOf(first.path))?.topNames.get(name) ?? []
  return having.filter((file) => !file.rules.isTestFile(file.path))
}

function fileMember(name: string, file: LinkedFile, repository: LinkedRepository): Value {
  const bound = boundIn(name, { file, index: 0 }, repository) ?? starred(name, file, repository)
  if (bound !== undefined) return bound
  return name === 'default' && file.rules.family === 'script' ? fileMember('module.exports', file, repository) : foreign
}

function starred(name: string, file: LinkedFile, repository: LinkedRepository): Value | undefined {
  for (const { module: path = '' } of file.scopes.get(0)?.stars ?? []) {
    const module = repository.moduleOf(file, path)
    const value = module === undefined ? foreign : moduleMember(module, name, file, repository)
    if (value.is !== 'foreign') return value
  }
  return undefined
}

export function memberOf(owner: Value, name: string, repository: LinkedRepository): Value {
  switch (owner.is) {
    case 'foreign':
      return foreign
    case 'unknown':
      return (owner.named === undefined ? undefined : givenTo(owner.named, name, repository)) ?? unknown
    case 'module':
      return moduleMember(owner.module, name, owner, repository)
    case 'instance':
      if (owner.basesOnly) return inherited(owner.place, name, repository)
      return classMember(owner.place, name, repository)
    case 'node':
      if (isClass(owner.place)) return classMember(owner.place, name, repository)
      return givenTo(namesOf(owner.place), name, repository) ?? unknown
  }
}

function namesOf({ file, index }: Place): { unit: string; name: string } {
  return { unit: file.rules.unitOf(file.path), name: file.nodes[index]?.qualifiedName ?? '' }
}

function givenTo(owner: { unit: string; name: string }, name: string, { units }: LinkedRepository): Value | undefined {
  const place = units.get(owner.unit)?.byQualifiedName.get(`${owner.name}.${name}`)
  return place === undefined ? undefined : { is: 'node', place }
}

function classMember(place: Place, name: string, repository: LinkedRepository): Value {
  return remembered(`${place.index}.${name}`, place.file.known, { meanwhile: foreign }, () => {
    const own = givenTo(namesOf(place), name, repository)
    return own ?? attribute(place, name, repository) ?? inherited(place, name, repository)
  })
}

/** A field, from its declaration or else from assignments in methods. */
function attribute(place: Place, name: string, repository: LinkedRepository): Value | undefined {
  const declared = localsOf(name, place)?.map((reference) => ({ place, reference }))
  const given = declared ?? place.file.scopes.get(place.index)?.attributes?.get(name) ?? []
  const [only] = given
  if (only === undefined) return undefined
  return given.length === 1 ? valueOfLocal(only.reference, only.place, repository) : unknown
}

/** The first base that has it decides. A name that no base has is foreign, unless a base's methods are not nodes (an interface). */
function inherited({ file, index }: Place, name: string, repository: LinkedRepository): Value {
  const outside = { file, index: file.parents[index] ?? 0 }
  for (const base of file.scopes.get(index)?.bases ?? []) {
    const value = follow(base.name, outside, repository)
    const member = value.is === 'node' ? classMember(value.place, name, repository) : value
    if (member.is !== 'foreign') return member.is === 'node' ? member : unknown
  }
  const kind = file.nodes[index]?.kind ?? ''
  return kind === 'interface' || kind === 'type' ? unknown : foreign
}
