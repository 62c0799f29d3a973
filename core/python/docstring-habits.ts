import type { DocstringStyle, TextStyle } from '#domain/path-rules.ts'
import { purposeOf } from '#domain/path-purpose.ts'
import type { FileDocstringFacts } from './docstring-facts.ts'
import { addedVotes, noVotes, type DocstringVotes } from './docstring-style.ts'

/** How the docstrings of a place in the repository are written: the part of its text style that they say. */
export type DocstringHabits = Pick<TextStyle, 'docstringReturnField'> &
  Required<
    Pick<
      TextStyle,
      'docstringStyle' | 'docstringQuotes' | 'docstringSummary' | 'gapAfterClassDocstring' | 'docstringTypes'
    >
  >

/** Docstrings with sections that a folder needs to have a style of its own; with fewer, the folder around it counts. */
const enoughSections = 3
/** Of the docstrings that could have sections, the part that has to have some: below, the style is plain. */
const sectionShare = 0.2
/** Docstrings without any section that show that a repository writes none. */
const enoughPlain = 5

/**
 * The style of each file by the majority of its folder, of the nearest folder around that has enough docstrings, or of the
 * whole repository. Without enough of them it is Google's. Files beside the product's own code, such as tests, are
 * asked only where there is nothing else.
 */
export function docstringHabits(
  files: ReadonlyMap<string, FileDocstringFacts>,
  configured: (path: string) => DocstringStyle | undefined,
): (path: string) => DocstringHabits {
  const own = [...files].filter(([path]) => purposeOf(path) === 'source')
  const votes = votesOfFolders(own.length > 0 ? own : [...files])
  const known = new Map<string, DocstringHabits>()
  return (path) => {
    const folder = folderOf(path)
    const habits = known.get(folder) ?? habitsIn(folder, votes)
    known.set(folder, habits)
    const style = configured(path)
    return style === undefined ? habits : { ...habits, docstringStyle: style }
  }
}

type Votes = ReadonlyMap<string, DocstringVotes>

/** The votes of each folder with all that lies in it; the repository's own folder is ''. */
function votesOfFolders(files: readonly (readonly [string, FileDocstringFacts])[]): Votes {
  const votes = new Map<string, DocstringVotes>()
  for (const [path, facts] of files) {
    for (const folder of foldersAround(folderOf(path))) {
      votes.set(folder, addedVotes(votes.get(folder) ?? noVotes, facts.votes))
    }
  }
  return votes
}

function folderOf(path: string): string {
  const end = path.lastIndexOf('/')
  return end === -1 ? '' : path.slice(0, end)
}

/** The folder itself first, the repository last. */
function foldersAround(folder: string): string[] {
  if (folder === '') return ['']
  return [folder, ...foldersAround(folderOf(folder))]
}

function habitsIn(folder: string, votes: Votes): DocstringHabits {
  const around = foldersAround(folder).flatMap((name) => votes.get(name) ?? [])
  const all = votes.get('') ?? noVotes
  const style = around.map(majorityStyle).find((found) => found !== undefined) ?? styleOfFew(all)
  return {
    docstringStyle: style,
    docstringQuotes: all.singleQuotes > all.doubleQuotes ? "'''" : '"""',
    docstringSummary: isTrueOf(around, 'firstLine', 'secondLine') ? 'first_line' : 'second_line',
    gapAfterClassDocstring: isTrueOf(around, 'classGap', 'classNoGap'),
    docstringTypes: isTrueOf(around, 'typed', 'untyped'),
    ...(all.returnField + all.returnsField > 0 && {
      docstringReturnField: isTrueOf(around, 'returnsField', 'returnField') ? 'returns' : 'return',
    }),
  }
}

/** The style that enough docstrings are written in. */
function majorityStyle(votes: DocstringVotes): DocstringStyle | undefined {
  const { google, numpy, sphinx, plain } = votes
  const sections = google + numpy + sphinx
  if (sections >= enoughSections && sections >= sectionShare * (sections + plain)) return leader(votes)
  return sections + plain >= 4 * enoughPlain ? 'plain' : undefined
}

/** A repository with few docstrings: whatever it has. */
function styleOfFew(votes: DocstringVotes): DocstringStyle {
  const { google, numpy, sphinx, plain } = votes
  if (google + numpy + sphinx > sectionShare * (google + numpy + sphinx + plain)) return leader(votes)
  return plain >= enoughPlain ? 'plain' : 'google'
}

function leader({ google, numpy, sphinx }: DocstringVotes): DocstringStyle {
  if (numpy > google && numpy >= sphinx) return 'numpy'
  return sphinx > google ? 'sphinx' : 'google'
}

/** What most of the nearest folder do that says anything; yes where none does. */
function isTrueOf(around: readonly DocstringVotes[], yes: keyof DocstringVotes, no: keyof DocstringVotes): boolean {
  const telling = around.find((votes) => votes[yes] + votes[no] >= enoughSections) ?? around.at(-1) ?? noVotes
  return telling[yes] >= telling[no]
}
