import { filledIn } from './article-kept.ts'
import { readArticle } from './read-article.ts'

export type ArticleStart = {
  title: string
  words: number
  headings: string[]
  /** What it begins with, or what its front matter says of it. */
  summary: string | undefined
  place: 'front matter' | 'under the title'
}

const [minCharacters, maxCharacters] = [20, 300]

/** How an article begins; undefined for a text without a title at its beginning. */
export function startOf(source: string): ArticleStart | undefined {
  const { headings, prose, words, frontMatter } = readArticle(source)
  const [title, next] = headings
  if (title?.level !== 1) return undefined
  const described = /^(?:description|summary)[ \t]*:[ \t]*(.*)$/m.exec(frontMatter)?.[1]
  const [first] = prose.filter(({ isParagraph }) => isParagraph)
  const isUnderTitle = first !== undefined && (next === undefined || first.first < next.line)
  const isFirst = isUnderTitle && blankBetween(source, endOfTitle(source, title.line), first.first)
  return {
    title: title.text,
    words,
    headings: headings.slice(1).map(({ text }) => text),
    summary: frontMatter === '' ? (isFirst ? first.text.trim().replaceAll('\n', ' ') : undefined) : described,
    place: frontMatter === '' ? 'under the title' : 'front matter',
  }
}

/** The last line of the title, which may be underlined. */
function endOfTitle(source: string, line: number): number {
  const next = source.split(/\r?\n/)[line] ?? ''
  return /^ {0,3}=+[ \t]*$/.test(next) ? line + 1 : line
}

function blankBetween(source: string, after: number, before: number): boolean {
  return source
    .split(/\r?\n/)
    .slice(after, before - 1)
    .every((line) => line.trim() === '')
}

/** Why a text is no summary, in words for its author; undefined for one or two plain sentences. */
export function faultOfSummary(summary: string): string | undefined {
  const { length } = summary
  if (length < minCharacters || length > maxCharacters)
    return `it must have ${minCharacters} to ${maxCharacters} characters, and has ${length}`
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(summary) || summary !== summary.trim()) return 'it must be one line'
  if (!summary.isWellFormed()) return 'it has half of a character'
  const { prose, links, html, codeSpans, code } = readArticle(summary)
  if (filledIn({ prose }).length > 0) return 'it must be plain text, without marks of a template'
  const isPlain = prose.length === 1 && prose[0]?.isParagraph === true && prose[0].text === summary
  if (!isPlain || links.length + html.length + codeSpans.length + code.length > 0)
    return 'it must be plain text, without Markdown'
  return /[.!?]$/.test(summary) ? undefined : 'it must end with a full stop'
}

/** The numbers of the summary that the article does not have. */
export function foreignNumbers(summary: string, source: string): string[] {
  const { numbers } = readArticle(summary)
  return numbers.filter((number) => !source.includes(number))
}

/** The article with the summary: as `description` of its front matter, or as a paragraph under the title. Undefined without a title. */
export function withSummary(source: string, summary: string): string | undefined {
  const { headings, frontMatter } = readArticle(source)
  const [title] = headings
  if (title?.level !== 1) return undefined
  const newline = source.includes('\r\n') ? '\r\n' : '\n'
  if (frontMatter !== '') {
    const end = /(?:---|\.\.\.)[ \t]*(?:\r?\n)?$/.exec(frontMatter)?.index ?? frontMatter.length
    return `${source.slice(0, end)}description: ${JSON.stringify(summary)}${newline}${source.slice(end)}`
  }
  const lines = source.split(newline)
  const at = endOfTitle(source, title.line)
  const gap = (lines[at] ?? '').trim() === '' ? [] : ['']
  return [...lines.slice(0, at), '', summary, ...gap, ...lines.slice(at)].join(newline)
}

/** Whether the summary is all that the change has added; the reason in words where it is not. */
export function faultOfInsertion(before: string, after: string): string | undefined {
  const [was, now] = [startOf(before), startOf(after)]
  if (was === undefined || now === undefined) return 'it has no title'
  if (was.summary !== undefined) return 'it had a summary'
  const summary = now.place === 'front matter' ? unquoted(now.summary ?? '') : (now.summary ?? '')
  const fault = faultOfSummary(summary)
  if (fault !== undefined) return `the summary is none: ${fault}`
  return withSummary(before, summary) === after ? undefined : 'more than the summary has changed'
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return text
  }
}
