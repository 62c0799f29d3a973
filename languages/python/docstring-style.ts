import { z } from 'zod'
import type { DocstringStyle, TextStyle } from '#domain/path-rules.ts'
import { purposeOf } from '#domain/path-purpose.ts'
import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'

/** Counts the docstrings of a file or a folder that have each form; here none. */
export const noVotes = {
  google: 0,
  numpy: 0,
  sphinx: 0,
  /** Counts those without sections, although the function has parameters that a section could describe. */
  plain: 0,
  doubleQuotes: 0,
  singleQuotes: 0,
  /** A text of several lines begins right after the quotes, or on the next line. */
  firstLine: 0,
  secondLine: 0,
  /** A blank line stands between a class's docstring and its body, or does not. */
  classGap: 0,
  classNoGap: 0,
  /** Sections that give the types of parameters, and those that leave them to the annotations. */
  typed: 0,
  untyped: 0,
  /** Sphinx's field for the returned value: `:return:` or `:returns:`. */
  returnField: 0,
  returnsField: 0,
}

const forms = Object.keys(noVotes).filter((form): form is keyof typeof noVotes => form in noVotes)

export const DocstringVotes = z.record(z.enum(forms), z.int())
export type DocstringVotes = z.infer<typeof DocstringVotes>

const titles = 'Parameters|Returns?|Yields?|Raises|Warns|Receives|Attributes|Methods|Other Parameters'
const underlined = new RegExp(
  String.raw`^[ \t]*(?:${titles}|Notes|Examples|See Also)[ \t]*\r?\n[ \t]*-{3,}[ \t]*$`,
  'm',
)
const headed =
  /^([ \t]*)(?:Args|Arguments|Keyword Args|Keyword Arguments|Parameters|Returns?|Yields?|Raises|Attributes):[ \t]*\r?\n\1[ \t]+\S/m
const field =
  /^[ \t]*:(?:param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|except|exception|ivar|cvar|var|yields?|ytype)\b[^:\n]*:/m

export function styleOfDocstring(content: string): DocstringStyle {
  if (underlined.test(content)) return 'numpy'
  if (field.test(content)) return 'sphinx'
  return headed.test(content) ? 'google' : 'plain'
}

const typedParameter: Readonly<Record<DocstringStyle, RegExp | undefined>> = {
  google: /^[ \t]+\*{0,2}\w+ \([^)\n]+\):/m,
  numpy: /^[ \t]*\*{0,2}\w+(?:, \w+)* ?: \S/m,
  sphinx: /^[ \t]*:(?:r?type\b|(?:param|arg|parameter)[ \t]+\S+[ \t]+\*{0,2}\w+:)/m,
  plain: undefined,
}

/** Is true when a docstring names the types of its parameters; undefined where it names no parameters. */
export function namesTypes(content: string, style: DocstringStyle): boolean | undefined {
  const hasParameters = /^[ \t]*(?:Args|Arguments|Parameters):?[ \t]*$|^[ \t]*:(?:param|arg|parameter)\b/m.test(content)
  return style === 'plain' || !hasParameters ? undefined : typedParameter[style]?.test(content)
}

export type DocstringHabits = Pick<TextStyle, 'docstringReturnField'> &
  Required<
    Pick<
      TextStyle,
      'docstringStyle' | 'docstringQuotes' | 'docstringSummary' | 'gapAfterClassDocstring' | 'docstringTypes'
    >
  >

/** A folder with fewer docstrings with sections takes the style of its parent folder. */
const enoughSections = 3
/** The style is plain where a smaller share of the docstrings that could have sections has some. */
const sectionShare = 0.2
/** This many docstrings without sections show that a repository writes none. */
const enoughPlain = 5

/**
 * Returns the docstring style of a file: that of the majority in its folder, else in the nearest parent folder with
 * enough docstrings, else in the repository; Google's when there are too few. Tests and other files outside the
 * product's own code count only in a repository that has nothing else. What `configured` returns overrides all that.
 */
export function docstringHabits(
  files: ReadonlyMap<string, { votes: DocstringVotes }>,
  configured: (path: string) => DocstringStyle | undefined,
): (path: string) => DocstringHabits {
  const own = [...files].filter(([path]) => purposeOf(path) === 'source')
  const votes = votesOfFolders(own.length > 0 ? own : [...files])
  const known = new Map<string, DocstringHabits>()
  return (path) => {
    const folder = folderOf(path)
    const habits = getOrMake(known, folder, () => habitsIn(folder, votes))
    const style = configured(path)
    return style === undefined ? habits : { ...habits, docstringStyle: style }
  }
}

type Votes = ReadonlyMap<string, DocstringVotes>

function votesOfFolders(files: readonly (readonly [string, { votes: DocstringVotes }])[]): Votes {
  const votes = new Map<string, DocstringVotes>()
  for (const [path, facts] of files) {
    for (const folder of foldersUp(folderOf(path))) {
      const sum = getOrMake(votes, folder, () => ({ ...noVotes }))
      for (const form of forms) sum[form] += facts.votes[form]
    }
  }
  return votes
}

function habitsIn(folder: string, votes: Votes): DocstringHabits {
  const around = foldersUp(folder).flatMap((name) => votes.get(name) ?? [])
  const all = votes.get('') ?? noVotes
  const style = around.map(majorityStyle).find((majority) => majority !== undefined) ?? styleOfFew(all)
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

function majorityStyle(votes: DocstringVotes): DocstringStyle | undefined {
  const { google, numpy, sphinx, plain } = votes
  const sections = google + numpy + sphinx
  if (sections >= enoughSections && sections >= sectionShare * (sections + plain)) return leader(votes)
  return sections + plain >= 4 * enoughPlain ? 'plain' : undefined
}

function styleOfFew(votes: DocstringVotes): DocstringStyle {
  const { google, numpy, sphinx, plain } = votes
  if (google + numpy + sphinx > sectionShare * (google + numpy + sphinx + plain)) return leader(votes)
  return plain >= enoughPlain ? 'plain' : 'google'
}

function leader({ google, numpy, sphinx }: DocstringVotes): DocstringStyle {
  if (numpy > google && numpy >= sphinx) return 'numpy'
  return sphinx > google ? 'sphinx' : 'google'
}

/** Is true when `yes` has no fewer votes than `no` in the nearest folder with enough of both; true without votes. */
function isTrueOf(around: readonly DocstringVotes[], yes: keyof DocstringVotes, no: keyof DocstringVotes): boolean {
  const telling = around.find((votes) => votes[yes] + votes[no] >= enoughSections) ?? around.at(-1) ?? noVotes
  return telling[yes] >= telling[no]
}
