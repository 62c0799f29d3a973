import { purposeOf } from '#domain/path-purpose.ts'
import { startOf } from './article-summary.ts'
import { type ArticleTree, proseFaults } from './prose-faults.ts'
import { maxArticleCharacters, readArticle } from './read-article.ts'

/** What is wrong in an article, and what it lacks. Lines are 1-based. */
export type SurveyedArticle = {
  faultLines: number[]
  /** The lines of links that were not judged. */
  unjudged: number[]
  headingLines: number[]
  words: number
  /** Why it gets no summary, whatever its length; undefined where it lacks one. */
  needsNoSummary: string | undefined
}

/** Undefined for a text that is too long to be read. */
export async function surveyArticle(
  source: string,
  path: string,
  tree: ArticleTree,
): Promise<SurveyedArticle | undefined> {
  if (source.length > maxArticleCharacters) return undefined
  const { faults, unjudged } = await proseFaults(source, path, tree)
  const { headings, words } = readArticle(source)
  return {
    faultLines: faults.map(({ line }) => line),
    unjudged,
    headingLines: headings.map(({ line }) => line),
    words,
    needsNoSummary: reasonForNoSummary(source, path),
  }
}

const noArticle =
  /^(?:readme|changelog|changes|history|news|releases?|licen[cs]e|copying|notice|authors|contributors|contributing|code_of_conduct|security|todo)\b/i

function reasonForNoSummary(source: string, path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (noArticle.test(name) || name.startsWith('.')) return 'is no article by its name'
  const purpose = purposeOf(path)
  if (purpose === 'test' || purpose === 'fixture') return 'is test data'
  const start = startOf(source)
  if (start === undefined) return 'has no title'
  return start.summary === undefined ? undefined : 'begins with a summary, or with a paragraph'
}

/** The last line of the section from `first` to `last` without the sections inside it, whose lines are theirs. */
export function lastOwnLine(first: number, last: number, headingLines: readonly number[]): number {
  const next = headingLines.find((line) => line > first && line <= last)
  return next === undefined ? last : next - 1
}
