import type { DocstringStyle } from '#domain/path-rules.ts'
import { purposeOf } from '#domain/path-purpose.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { DefinitionDocFacts } from './definition-facts.ts'
import type { FileDocstringFacts } from './docstring-facts.ts'
import { lastPart } from './imported-names.ts'
import { docstringHabits, type DocstringHabits } from './docstring-style.ts'
import { openDocstringReaders } from './docstring-readers.ts'

/** Lists scopes, which say what gets a docstring: `private` adds private and nested definitions, `all` also tests, examples, scripts. */
export const docstringScopes = ['public', 'private', 'all'] as const
export type DocstringScope = (typeof docstringScopes)[number]

export type DocstringSurvey = {
  styleOf(path: string): DocstringHabits
  /**
   * Says why the definition that starts at this byte gets no docstring, in words that follow its name; undefined when it
   * should get one. `has a docstring`; `is private …` and `is in …` (outside the scope); `needs no docstring: …` (an
   * overload, for example); `is left alone: …`, where a user may have expected one.
   */
  reasonToSkip(path: string, startByte: number, scope: DocstringScope): string | undefined
  /** Tells whether the definition that starts at this byte is for use by others; undefined where there is none. */
  visibilityOf(path: string, startByte: number): DefinitionDocFacts['visibility'] | undefined
  notices: string[]
}

export type ConfiguredDocstrings = {
  style?: DocstringStyle | undefined
  /** The linter requires a docstring for each method, also for one that inherits it. */
  wantsMethodDocstrings?: boolean
}

export function foldDocstringFacts(
  files: ReadonlyMap<string, FileDocstringFacts>,
  configured: (path: string) => ConfiguredDocstrings,
): DocstringSurvey {
  const habits = docstringHabits(files, (path) => configured(path).style)
  const readers = openDocstringReaders(files)
  const inheritsDocstring = openInheritedDocstrings(files)
  const byStart = ({ definitions }: FileDocstringFacts) => new Map(definitions.map((facts) => [facts.startByte, facts]))
  const places = new Map([...files].map(([path, facts]) => [path, byStart(facts)]))
  return {
    styleOf: habits,
    notices: readers.notices,
    visibilityOf: (path, startByte) => places.get(path)?.get(startByte)?.visibility,
    reasonToSkip(path, startByte, scope) {
      const definition = places.get(path)?.get(startByte)
      if (definition === undefined) return 'is no function or class'
      if (definition.hasDocstring) return 'has a docstring'
      const outside = outsideOfScope(path, definition, scope)
      if (outside !== undefined) return outside
      if (configured(path).wantsMethodDocstrings !== true && inheritsDocstring(path, definition)) return inherits
      return definition.exempt ?? readers.reasonToSkip(path, definition) ?? (definition.isInRow && inRow)
    },
  }
}

const inherits = 'needs no docstring: it inherits that of the method it overrides'
const inRow = 'is left alone: it is one of several one-line definitions in a row'

export const purposeNames = {
  test: 'a test',
  fixture: 'a fixture',
  example: 'an example',
  docs: 'a file of the documentation',
  migration: 'a migration',
  benchmark: 'a benchmark',
  script: 'a script',
} as const

export function outsideOfScope(
  path: string,
  { visibility }: Pick<DefinitionDocFacts, 'visibility'>,
  scope: DocstringScope,
): string | undefined {
  const purpose = purposeOf(path)
  if (scope !== 'all' && purpose !== 'source') return `is in ${purposeNames[purpose]} (scope: all includes it)`
  if (scope === 'public' && visibility === 'private') return 'is private (scope: private includes it)'
  return undefined
}

const constructors = new Set(['__init__', '__new__', '__post_init__'])

/** Holds of all classes of one name their bases, and their methods with a docstring, each with these classes' files. */
type KnownClasses = { bases: Set<string>; documented: Map<string, Set<string>> }

/**
 * Tells whether a method inherits a docstring, which one of its own would hide from `help` and Sphinx. Constructors do not. Classes are
 * known by their names alone: of two classes with one name, both count.
 */
function openInheritedDocstrings(files: ReadonlyMap<string, FileDocstringFacts>) {
  const classes = new Map<string, KnownClasses>()
  const classesOf = (name: string) => getOrMake(classes, name, () => ({ bases: new Set(), documented: new Map() }))
  for (const [path, { definitions }] of files) {
    for (const { kind, name, qualifiedName, bases, hasDocstring } of definitions) {
      if (kind === 'class') for (const base of bases) classesOf(name).bases.add(lastPart(base))
      if (kind !== 'method' || !hasDocstring) continue
      getOrMake(classesOf(ownerOf(qualifiedName)).documented, name, () => new Set()).add(path)
    }
  }
  const ancestors = new Map<string, Set<string>>()
  const ancestorsOf = (name: string) =>
    getOrMake(ancestors, name, () => {
      const all = new Set(classes.get(name)?.bases)
      // Iterating over a set includes what is added during the iteration.
      for (const ancestor of all) for (const base of classes.get(ancestor)?.bases ?? []) all.add(base)
      return all
    })
  return (path: string, { kind, name, qualifiedName }: DefinitionDocFacts): boolean => {
    if (kind !== 'method' || constructors.has(name)) return false
    const owner = ownerOf(qualifiedName)
    // A base may have the name of the class itself, in another file.
    return [...ancestorsOf(owner)].some((ancestor) => {
      const paths = classes.get(ancestor)?.documented.get(name)
      return paths !== undefined && (ancestor !== owner || paths.size > 1 || !paths.has(path))
    })
  }
}

function ownerOf(qualifiedName: string): string {
  return qualifiedName.split('.').at(-2) ?? ''
}
