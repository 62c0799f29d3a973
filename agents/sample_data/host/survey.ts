import type { CodeNode } from '#domain/code-node.ts'
import { folderOf } from '#domain/repo-path.ts'
import { purposeOf } from '#domain/path-purpose.ts'
import { always, type SurveyRule, workUnless } from '#stages/plan/survey-rule.ts'
import { type DocstringSurvey, purposeNames } from '#languages/python/docstring-survey.ts'
import { iterableNote, type JsonSchema } from '#languages/python/known-types.ts'
import type { ModuleTypes } from '#languages/python/module-types.ts'
import { sampledSignature, type SampledSignature } from '#languages/python/sampled-signature.ts'
import { isStub } from '#languages/python/python-file.ts'
import { resolveType } from '#languages/python/resolve-type.ts'
import { samplePathsOf, samplePlace } from '#languages/python/sample-place.ts'
import { getOrMake } from '#platform/cached-answers.ts'

/** A scope says which definitions get samples. `auto`: public ones of the source of which a file of cases says more than the signature. */
const sampleScopes = ['auto', 'all'] as const
export type SampleScope = (typeof sampleScopes)[number]

/** There is work on definitions whose parameters have types that can be written as data, and that have no samples. */
export const noSamples: SurveyRule = {
  surveys: ['types'],
  open: async ({ survey }) => {
    const samples = survey && foldSamples(survey)
    return ({ settings }) => {
      const scope = sampleScopes.find((known) => known === settings['scope']?.default) ?? 'auto'
      return { find: samples === undefined ? always : (node) => workUnless(samples.reasonToSkip(node, scope)) }
    }
  },
}

export type SampledNode = Pick<CodeNode, 'path' | 'kind' | 'qualifiedName' | 'startByte'>

export type SampleSurvey = {
  reasonToSkip(node: SampledNode, scope: SampleScope): string | undefined
}

type SurveyedTypes = {
  types: ReadonlyMap<string, ModuleTypes | undefined>
  docstrings: Pick<DocstringSurvey, 'visibilityOf'>
  files: readonly { path: string }[]
}

export function foldSamples({ types, docstrings, files }: SurveyedTypes): SampleSurvey {
  const paths = new Set(files.map(({ path }) => path))
  const list = openListing(paths)
  const moduleAt = (path: string) => types.get(path) ?? null
  return {
    reasonToSkip(node, scope) {
      if (isStub(node.path)) return 'is in a stub file'
      const outside = scope === 'auto' ? outsideOfScope(node, docstrings) : undefined
      if (outside !== undefined) return outside
      if (samplePathsOf(samplePlace(node, list)).some((path) => paths.has(path))) return 'has samples'
      const answer = sampledSignature(node, moduleAt)
      if (answer.kind === 'unread') return 'has types in files that are not read'
      if (answer.kind === 'unfit') return withoutNames(answer.reason)
      return scope === 'auto' ? reasonNotWorthIt(node, answer.signature, moduleAt) : undefined
    },
  }
}

function outsideOfScope(
  { path, startByte }: Pick<CodeNode, 'path' | 'startByte'>,
  { visibilityOf }: SurveyedTypes['docstrings'],
): string | undefined {
  const purpose = purposeOf(path)
  if (purpose !== 'source') return `is in ${purposeNames[purpose]} (scope: all includes it)`
  return visibilityOf(path, startByte) === 'private' ? 'is private (scope: all includes it)' : undefined
}

/** Reasons are counted, so they name no type of a single definition. */
function withoutNames(reason: string): string {
  return reason.replace(/ \(.*\)$/s, '')
}

/** Says why a file of cases would say no more than the signature, or repeat one for a method that another class declares. */
function reasonNotWorthIt(
  { path, kind, qualifiedName }: SampledNode,
  { parameters }: SampledSignature,
  moduleAt: (path: string) => ModuleTypes | null,
): string | undefined {
  const isPlain = parameters.every(({ schema }) => limitsLittle(schema))
  if (isPlain && (kind === 'method' || parameters.length === 1))
    return 'takes plain values only (scope: all includes it)'
  const isOverride = kind === 'method' && overridesMethod({ path, qualifiedName }, moduleAt)
  return isOverride ? 'overrides a method that may have samples (scope: all includes it)' : undefined
}

const scalars = new Set(['string', 'integer', 'number', 'boolean'])

function limitsLittle({ type, items, additionalProperties, default: _, description, ...more }: JsonSchema): boolean {
  if (description !== undefined && description !== iterableNote) return false
  const inner = items ?? additionalProperties
  const isScalar = type === undefined || (typeof type === 'string' && scalars.has(type))
  const isLoose = typeof inner === 'object' && inner !== null && Object.keys(inner).length === 0
  return Object.keys(more).length === 0 && (isLoose || (isScalar && inner === undefined))
}

const maxClasses = 500

function overridesMethod(
  { path, qualifiedName }: { path: string; qualifiedName: string },
  moduleAt: (path: string) => ModuleTypes | null,
  seen = new Set<string>(),
): boolean {
  seen.add(`${path}:${qualifiedName}`)
  const at = qualifiedName.lastIndexOf('.')
  const [owner, method] = [qualifiedName.slice(0, at), qualifiedName.slice(at + 1)]
  const module = moduleAt(path)
  const definition = module?.definitions[owner]
  if (module === null || definition?.kind !== 'class') return false
  return definition.bases.some((base) => {
    const resolved = resolveType(base, { path, module, at: moduleAt, unread: new Set() })
    if (resolved.kind !== 'definition') return false
    const inherited = { path: resolved.scope.path, qualifiedName: `${resolved.name}.${method}` }
    // By their names, classes may inherit from themselves: `from base import Field` and `class Field(Field)`.
    if (seen.has(`${inherited.path}:${inherited.qualifiedName}`) || seen.size >= maxClasses) return false
    return (
      Object.hasOwn(resolved.scope.module.definitions, inherited.qualifiedName) ||
      overridesMethod(inherited, moduleAt, seen)
    )
  })
}

function openListing(paths: ReadonlySet<string>): (folder: string) => readonly string[] {
  const names = new Map<string, Set<string>>()
  for (const path of paths) {
    for (let name = path, isFolder = false; name !== ''; name = folderOf(name), isFolder = true) {
      const folder = getOrMake(names, folderOf(name), () => new Set())
      const own = `${name.slice(name.lastIndexOf('/') + 1)}${isFolder ? '/' : ''}`
      if (folder.has(own)) break
      folder.add(own)
    }
  }
  return (folder) => [...(names.get(folder) ?? [])]
}
