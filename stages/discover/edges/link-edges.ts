import { basename } from 'node:path/posix'
import { pauseEvery } from '#platform/clock.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { Edge } from '#domain/code-node.ts'
import {
  isClass,
  type LinkedFile,
  type LinkedRepository,
  type LinkInput,
  openRepository,
  type Place,
} from './linked-repository.ts'
import { noPath, type Reference } from './find-references.ts'
import { follow, lookUp, memberOf, moduleMember } from './resolve-name.ts'
import { isTestCode, isTested, testSubjects } from './test-names.ts'

type Link = { from: Place; to: Place; kind: Edge['kind']; certainty: Edge['certainty'] }

const turnMs = 20

/**
 * The edges between the nodes of a repository, in the order of their `from`, of their `to` and of kinds; at most one of a
 * kind from one node to another, none from a node to itself. The same input gives the same edges. `contains` is a
 * node's `parentId`. Yields to other work of the process, and checks for an abort then.
 */
export async function linkEdges(input: LinkInput, signal?: AbortSignal): Promise<Edge[]> {
  const pause = pauseEvery(turnMs, signal)
  const repository = await openRepository(input, pause)
  const methods = methodsByName(repository)
  const places = new Map(input.nodes.map(({ nodeId }, place) => [nodeId, place]))
  const edges: Edge[] = []
  for (const file of repository.files.values()) {
    await pause()
    edges.push(...edgesOf(file, repository, methods, places))
  }
  return edges
}

function edgesOf(
  file: LinkedFile,
  repository: LinkedRepository,
  methods: MethodsByName,
  places: ReadonlyMap<string, number>,
): Edge[] {
  const ranked = new Map<string, Edge & { rank: number }>()
  for (const { from: by, to: of, kind, certainty } of linksOf(file, repository, methods)) {
    const from = by.file.nodes[by.index]?.nodeId
    const to = of.file.nodes[of.index]?.nodeId
    if (from === undefined || to === undefined || from === to) continue
    const key = `${by.index} ${to} ${kind}`
    if (certainty === 'by_name' && ranked.has(key)) continue
    ranked.set(key, { from, to, kind, certainty, rank: by.index * places.size + (places.get(to) ?? 0) })
  }
  return [...ranked.values()]
    .toSorted((left, right) => left.rank - right.rank || (left.kind < right.kind ? -1 : 1))
    .map(({ from, to, kind, certainty }) => ({ from, to, kind, certainty }))
}

function* linksOf(file: LinkedFile, repository: LinkedRepository, methods: MethodsByName): Generator<Link> {
  const importer = { file, uses: file.rules.family === 'go' ? packageUses(file) : new Map() }
  for (const reference of file.references) {
    const from = { file, index: reference.from }
    if (reference.kind === 'import') {
      for (const to of imported(reference, importer, repository))
        yield { from, to, kind: 'imports', certainty: 'exact' }
    } else if (reference.kind === 'inherits') {
      const to = baseOf(reference, from, repository)
      if (to !== undefined) yield { from, to, kind: 'inherits', certainty: 'exact' }
    } else if (reference.kind === 'call') {
      const called = calledBy(reference, from, repository, methods)
      if (called === undefined) continue
      yield { from, ...called, kind: 'calls' }
      if (isTested(from, called.to)) yield { from, ...called, kind: 'tests' }
    }
  }
  for (const { from, to } of testSubjects(file, repository)) yield { from, to, kind: 'tests', certainty: 'by_name' }
}

/** The node that is named; the module's files where it has none, and also where the node comes from elsewhere. */
function imported(
  reference: Reference,
  importer: { file: LinkedFile; uses: PackageUses },
  repository: LinkedRepository,
): Place[] {
  const { file } = importer
  const { module: path, name } = reference
  const module = path === undefined ? undefined : repository.moduleOf(file, path)
  if (module === undefined) return []
  const { rules } = file
  const isGo = rules.family === 'go'
  const used = isGo ? usedFiles(module.paths, rules.boundName(reference), importer, repository) : module.paths
  const whole = filesAt(used, repository)
  if (name === '' || name === '*') return whole
  const value = moduleMember(module, name, file, repository)
  if (value.is === 'module') return filesAt(value.module.paths, repository)
  if (value.is !== 'node') return whole
  return module.paths.includes(value.place.file.path) ? [value.place] : [...whole, value.place]
}

function filesAt(paths: readonly string[], { files }: LinkedRepository): Place[] {
  return paths.flatMap((path) => {
    const file = files.get(path)
    return file === undefined ? [] : [{ file, index: 0 }]
  })
}

function baseOf({ name }: Reference, from: Place, repository: LinkedRepository): Place | undefined {
  if (!isClass(from)) return undefined
  const value = follow(name, { file: from.file, index: from.file.parents[from.index] ?? 0 }, repository)
  return value.is === 'node' && isClass(value.place) ? value.place : undefined
}

/** A bare name refers only to what it is bound to; a method of an unknown value may be resolved if only one method has that name. */
function calledBy(
  { name, receiver }: Reference,
  from: Place,
  repository: LinkedRepository,
  methods: MethodsByName,
): Pick<Link, 'to' | 'certainty'> | undefined {
  if (receiver === undefined) {
    const value = lookUp(name, from, repository)
    return value.is === 'node' ? { to: value.place, certainty: 'exact' } : undefined
  }
  const owner = receiver === noPath ? ({ is: 'unknown' } as const) : follow(receiver, from, repository)
  const value = memberOf(owner, name, repository)
  if (value.is === 'node') return { to: value.place, certainty: 'exact' }
  const only = value.is === 'unknown' ? methods.only(name, from.file) : undefined
  return only === undefined ? undefined : { to: only, certainty: 'by_name' }
}

/** The things of packages that a file calls, embeds, or has as the type or value of something: package name → things. */
type PackageUses = ReadonlyMap<string, ReadonlySet<string>>

function packageUses({ references }: LinkedFile): PackageUses {
  const uses = new Map<string, Set<string>>()
  for (const { kind, receiver, name, type, value } of references) {
    if (kind === 'import') continue
    const paths = [receiver === undefined ? name : `${receiver}.${name}`, receiver, type, value]
    for (const path of paths) {
      const [head = '', thing] = path?.split('.') ?? []
      if (thing === undefined) continue
      getOrMake(uses, head, () => new Set()).add(thing.replace('()', ''))
    }
  }
  return uses
}

/** Returns those of a package's files that define what the importing file uses of it; its main file when no use is known. */
function usedFiles(
  paths: readonly string[],
  name: string,
  { file, uses }: { file: LinkedFile; uses: PackageUses },
  repository: LinkedRepository,
): string[] {
  const used = new Set<string>()
  for (const thing of uses.get(name) ?? []) {
    const value = follow(`${name}.${thing}`, { file, index: 0 }, repository)
    if (value.is === 'node') used.add(value.place.file.path)
  }
  if (used.size > 0) return [...used].filter((path) => paths.includes(path))
  const main = paths.find((path) => ['doc.go', `${name}.go`].includes(basename(path))) ?? paths[0]
  return main === undefined ? [] : [main]
}

type MethodsByName = ReturnType<typeof methodsByName>

/** Methods by their names. Those of test files are found for test files only; common names are left out. */
function methodsByName(repository: LinkedRepository) {
  const places = new Map<string, Place[]>()
  for (const file of repository.files.values()) {
    const distinct = new Map<string, Place>()
    for (const [index, { kind, qualifiedName }] of file.nodes.entries())
      if (kind === 'method' || kind === 'function') distinct.set(qualifiedName, { file, index })
    for (const place of distinct.values()) {
      const key = `${file.rules.family} ${place.file.nodes[place.index]?.name ?? ''}`
      getOrMake(places, key, () => []).push(place)
    }
  }
  return {
    /** The one method of this name in the asker's language family; undefined where another method or function has it. */
    only(name: string, { rules, path }: LinkedFile): Place | undefined {
      const [first, ...others] = rules.commonMembers.has(name) ? [] : (places.get(`${rules.family} ${name}`) ?? [])
      if (first === undefined || others.length > 0 || !isMethodOfClass(first)) return undefined
      return isTestCode(first) && !rules.isTestFile(path) ? undefined : first
    },
  }
}

/** Methods of object literals do not count: literals are passed anywhere, and many of their methods have the same names. */
function isMethodOfClass({ file, index }: Place): boolean {
  if (file.nodes[index]?.kind !== 'method') return false
  const parent = file.parents[index]
  return file.rules.family === 'go' || (typeof parent === 'number' && isClass({ file, index: parent }))
}
