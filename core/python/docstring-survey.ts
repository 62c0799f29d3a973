import type { DocstringStyle } from '#domain/path-rules.ts'
import { purposeOf } from '#domain/path-purpose.ts'
import type { DefinitionDocFacts } from './definition-facts.ts'
import type { FileDocstringFacts } from './docstring-facts.ts'
import { docstringHabits, type DocstringHabits } from './docstring-habits.ts'
import { openDocstringReaders } from './docstring-readers.ts'
import { openInheritedDocstrings } from './inherited-docstrings.ts'

/** Which definitions are to get a docstring: `private` adds private and nested ones, `all` also tests, examples, scripts. */
export const docstringScopes = ['public', 'private', 'all'] as const
export type DocstringScope = (typeof docstringScopes)[number]

/** What a repository says about docstrings, as a whole. */
export type DocstringSurvey = {
  /** How the docstrings around a file are written. */
  styleOf(path: string): DocstringHabits
  /**
   * Why the definition that starts at this byte gets no docstring, in words that follow its name; undefined where one is to
   * be written. `has a docstring`, `is private …` and `is in …` (outside of the scope), `needs no docstring: …` (an overload
   * or its like), and `is left alone: …`, which are those that somebody may miss.
   */
  reasonToSkip(path: string, startByte: number, scope: DocstringScope): string | undefined
  /** What was found in the repository that keeps definitions from getting docstrings, for a person. */
  notices: string[]
}

/** What the configuration of a repository says about one of its files. */
export type ConfiguredDocstrings = {
  /** The convention that it names. */
  style?: DocstringStyle | undefined
  /** Its linter wants a docstring for each method, also for one that inherits it. */
  wantsMethodDocstrings?: boolean
}

/** Looks at all files of a repository together. */
export function foldDocstringFacts(
  files: ReadonlyMap<string, FileDocstringFacts>,
  configured: (path: string) => ConfiguredDocstrings,
): DocstringSurvey {
  const habits = docstringHabits(files, (path) => configured(path).style)
  const readers = openDocstringReaders(files)
  const inheritsDocstring = openInheritedDocstrings(files)
  const places = new Map([...files].map(([path, facts]) => [path, byStart(facts)]))
  return {
    styleOf: habits,
    notices: readers.notices,
    reasonToSkip(path, startByte, scope) {
      const found = places.get(path)?.get(startByte)
      if (found === undefined) return 'is no function or class'
      if (found.hasDocstring) return 'has a docstring'
      const outside = outsideOfScope(path, found, scope)
      if (outside !== undefined) return outside
      if (configured(path).wantsMethodDocstrings !== true && inheritsDocstring(path, found)) return inheritsLonger
      return found.exempt ?? readers.reasonToSkip(path, found) ?? (found.isInRow === true ? inRow : undefined)
    },
  }
}

const inheritsLonger = 'needs no docstring: it inherits a longer one from the method it overrides'
const inRow = 'is left alone: it is one of several one-line definitions in a row'

function byStart({ definitions }: FileDocstringFacts): Map<number, DefinitionDocFacts> {
  return new Map(definitions.map((one) => [one.startByte, one]))
}

const purposeNames = {
  test: 'a test',
  fixture: 'a fixture',
  example: 'an example',
  docs: 'a file of the documentation',
  migration: 'a migration',
  benchmark: 'a benchmark',
  script: 'a script',
} as const

function outsideOfScope(path: string, { visibility }: DefinitionDocFacts, scope: DocstringScope): string | undefined {
  const purpose = purposeOf(path)
  if (scope !== 'all' && purpose !== 'source') return `is in ${purposeNames[purpose]} (scope: all takes it)`
  if (scope === 'public' && visibility === 'private') return 'is private (scope: private takes it)'
  return undefined
}
