import type { Edge } from './edge.ts'
import {
  isClass,
  type LinkedFile,
  type LinkedRepository,
  type LinkInput,
  openRepository,
  type Place,
} from './linked-repository.ts'
import { methodsByName, type MethodsByName } from './methods-by-name.ts'
import type { Reference } from './reference.ts'
import { noPath } from './expression-path.ts'
import { follow, lookUp, memberOf, moduleMember } from './resolve-name.ts'
import { usedFiles } from './go-uses.ts'
import { isTested, testSubjects } from './test-names.ts'

/** An edge before it is written by ids. */
type Link = { from: Place; to: Place; kind: Edge['kind']; certainty: Edge['certainty'] }

/**
 * The edges between the nodes of a repository, sorted by from, to and kind; at most one of a kind from one node to
 * another, none from a node to itself. The same input gives the same edges. `contains` is a node's `parentId`.
 */
export function linkEdges(input: LinkInput): Edge[] {
  const repository = openRepository(input)
  const methods = methodsByName(repository)
  const edges = new Map<string, Edge>()
  for (const file of repository.files.values()) {
    for (const link of linksOf(file, repository, methods)) {
      const from = link.from.file.nodes[link.from.index]?.nodeId
      const to = link.to.file.nodes[link.to.index]?.nodeId
      if (from === undefined || to === undefined || from === to) continue
      const key = `${from} ${to} ${link.kind}`
      if (link.certainty === 'by_name' && edges.has(key)) continue
      edges.set(key, { from, to, kind: link.kind, certainty: link.certainty })
    }
  }
  return [...edges].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, edge]) => edge)
}

function* linksOf(file: LinkedFile, repository: LinkedRepository, methods: MethodsByName): Generator<Link> {
  for (const reference of file.references) {
    const from = { file, index: reference.from }
    if (reference.kind === 'import') {
      for (const to of imported(reference, file, repository)) yield { from, to, kind: 'imports', certainty: 'exact' }
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
function imported(reference: Reference, file: LinkedFile, repository: LinkedRepository): Place[] {
  const { module: path, name } = reference
  if (path === undefined) return []
  const module = file.rules.moduleOf(file.path, path, repository.modules)
  if (module === undefined) return []
  const whole = filesAt(
    file.rules.family === 'go' ? usedFiles(module.paths, reference, file, repository) : module.paths,
    repository,
  )
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

/** A bare name is only ever what it is bound to; a method of something unknown may be the only one of that name. */
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
