import { hiddenCharacter } from '../syntax/hidden-characters.ts'
import type { DocLanguage } from './definition.ts'

const maxCommentLength = 4000

/** Removes comment marks that the model added, trailing white space and shared indentation. */
export function normalisedComment(raw: string): string {
  // A longer text is refused anyway; this bounds what is done with it.
  const text = raw.slice(0, 4 * maxCommentLength).trim()
  const isBlock = /^\/\*\*?[\s\S]*\*\/$/.test(text)
  const bare = isBlock ? text.replace(/^\/\*\*?/, '').replace(/\*\/$/, '') : text
  const lines = bare.split(/\r\n|\r|\n/).map((line) => line.trimEnd().replaceAll('\t', '    '))
  const isMarked = (mark: RegExp) => lines.every((line) => line.trim() === '' || mark.test(line))
  const mark = isBlock ? /^\s*\* ?/ : [/^\s*\/\/\/ ?/, /^\s*\/\/ ?/].find(isMarked)
  const [first = '', ...rest] = mark === undefined ? lines : lines.map((line) => line.replace(mark, ''))
  const margins = rest.filter((line) => line !== '').map((line) => line.length - line.trimStart().length)
  const margin = margins.length === 0 ? 0 : Math.min(...margins)
  return [first.trimStart(), ...rest.map((line) => line.slice(margin))].join('\n').trim()
}

/** Matches comments that tools obey, at the start of a comment or of a line in it: a comment of ours must not become one. */
export const directive =
  /^[\s*/#!;-]*(?:@ts-|@(?:no)?flow\b|@(?:no)?(?:format|prettier)\b|@jsx|@(?:vite|preserve|license|copyright)\b|[@#]__[A-Z]|(?:es|ox|x)lint\b|eslint-|oxlint-|j[sx]hint\b|jslint\b|jscs:|tslint:|standard\b[^.]*$|globals?\s|exported\s|biome-ignore|deno-(?:lint|fmt|types|coverage)|dprint-|prettier-ignore|(?:istanbul|c8|v8|node:coverage)\b|webpack|@?\s*source(?:Mapp?ing)?URL|<(?:reference|amd-)|use (?:strict|client|server)\b|go:|line\s\S*:\d|\+build\b|export\s\w+$|extern\s\w+$|nolint\b|lint:|revive:|#?nosec\b|clippy:|rustfmt|cbindgen:|NOSONAR|NOPMD|CHECKSTYLE|noinspection\b|spotless:|@formatter:|@checkstyle|<editor-fold|region\b|endregion\b|NOLINT|clang-|cppcheck|stylelint-|stryker\s+(?:disable|restore)|sonar-|cspell:|spell-?checker:|ReSharper|pragma\b|type:\s*ignore|noqa\b|pylint:|mypy:|pyright:|ruff:|rubocop:|shellcheck\b|phpcs:|phpstan|psalm|@codeCoverageIgnore|frozen_string_literal|shareable_constant_value|warn_(?:indent|past_scope)|-\*-|vim?:|ex:|SPDX-)/i

/** Says why a text cannot be the doc comment of `name`, worded so that a model can write it again. */
export function faultOfComment(raw: string, content: string, name: string, language: DocLanguage): string | undefined {
  if (content === '') return 'the docstring is empty'
  if (content.startsWith('@')) return 'the docstring begins with a tag: say first what the definition does'
  if (raw.length > maxCommentLength) return `the docstring is longer than ${maxCommentLength} characters`
  const hidden = hiddenCharacter(content)
  if (hidden !== undefined) return `the docstring contains control characters: ${hidden}`
  if (!content.isWellFormed()) return 'the docstring contains half a character'
  if (language.form === '/**' && content.includes('*/')) return 'the docstring contains */, which would end the comment'
  if (language.form === '/**' && content.includes('/*')) return 'the docstring contains /*, which looks like a comment'
  const lines = content.split('\n')
  const obeyed = lines.find((line) => directive.test(line))
  if (obeyed !== undefined)
    return `a tool would take the line ${JSON.stringify(obeyed.slice(0, 60))} for an instruction`
  if (lines.some((line) => line.endsWith('\\'))) return 'a line ends with a backslash'
  return faultOfTags(content, language) ?? language.faultOf?.(content, name)
}

function faultOfTags(content: string, { tags }: DocLanguage): string | undefined {
  const written = [...withoutCode(content).matchAll(/^[ \t]*@([A-Za-z]\w*)/gm)].map(([, tag = '']) => tag)
  const unknown = written.find((tag) => !tags.includes(tag))
  if (unknown === undefined) return undefined
  if (tags.length === 0) return `there are no tags in comments of this language: describe @${unknown} in a sentence`
  return `the tag @${unknown} is not to be written: only ${tags.map((tag) => `@${tag}`).join(', ')}`
}

/** With blanks for fenced code. */
export function withoutCode(content: string): string {
  return content.replaceAll(/^[ \t]*```[\s\S]*?(?:^[ \t]*```[ \t]*$|(?![\s\S]))/gm, (code) =>
    code.replaceAll(/[^\n]/g, ' '),
  )
}

/** Changes only prose: what is in fenced code, between backticks, in an inline tag or in a link stays as it is. */
export function inProse(content: string, change: (prose: string) => string): string {
  const kept =
    /^[ \t]*```[\s\S]*?(?:^[ \t]*```[ \t]*$|(?![\s\S]))|`[^`\n]*`|\[[^[\]\n]*\]\([^()\n]*\)|\{@\w+[^{}\n]*\}|https?:\/\/[^\s)>]+/gm
  let text = ''
  let from = 0
  for (const { 0: code, index } of content.matchAll(kept)) {
    text += change(content.slice(from, index)) + code
    from = index + code.length
  }
  return text + change(content.slice(from))
}

type FittedComment = { kind: 'fits'; lines: string[] } | { kind: 'too_long'; reason: string }

const listItem = /^\s*(?:[-*+•]|\d+[.)])\s+/
const tagHead = /^@\w+/

/** Wraps paragraphs, items and tags at `width`; fenced and indented code, tables, titles and URLs are never broken. */
export function fitComment(content: string, width: number): FittedComment {
  const lines: string[] = []
  let paragraph: string[] = []
  let isCode = false
  const flush = () => {
    lines.push(...wrapped(paragraph, width))
    paragraph = []
  }
  for (const line of content.split('\n')) {
    const isFence = line.trimStart().startsWith('```')
    const isFixed = isCode || isFence || line === '' || /^(?: {4}|\s*\||#+ )/.test(line)
    if (isFence) isCode = !isCode
    if (isFixed || listItem.test(line) || tagHead.test(line)) flush()
    if (isFixed) lines.push(line)
    else paragraph.push(line)
  }
  flush()
  const long = lines.find((line) => line.length > width && /\S\s+\S/.test(line.replace(/^[\s*-]+/, '')))
  if (long === undefined) return { kind: 'fits', lines }
  const shown = long.trim().length > 60 ? `${long.trim().slice(0, 60)}…` : long.trim()
  const reason = `the line "${shown}" has ${long.length} characters, cannot be broken, and there is room for ${width}: shorten it`
  return { kind: 'too_long', reason }
}

function wrapped(paragraph: readonly string[], width: number): string[] {
  if (paragraph.every((line) => line.length <= width)) return [...paragraph]
  const [first = ''] = paragraph
  const item = listItem.exec(first)?.[0]
  const next =
    item === undefined ? (tagHead.test(first) ? '  ' : (/^\s*/.exec(first)?.[0] ?? '')) : ' '.repeat(item.length)
  const filled: string[] = []
  let line = ''
  // A link tag or a name in backticks is one word.
  for (const [word] of paragraph.join(' ').matchAll(/(?:\{@\w+[^{}]*\}|`[^`]*`|\S)+/g)) {
    if (line === '') line = `${/^\s*/.exec(first)?.[0] ?? ''}${word}`
    else if (line.length + 1 + word.length <= width) line += ` ${word}`
    else {
      filled.push(line)
      line = `${next}${word}`
    }
  }
  return line === '' ? filled : [...filled, line]
}

type CommentPlace = {
  indent: string
  newline: string
  /** Puts a comment of one line on one line together with its marks, where its form has two. */
  isOneLine: boolean
  lineLength: number
}

/** Returns the comment with its last line break, and the indentation for what comes behind it. */
export function writtenComment(lines: readonly string[], { form }: DocLanguage, place: CommentPlace): string {
  const { indent, newline, isOneLine, lineLength } = place
  const [only = '', ...more] = lines
  const single = `/** ${only} */`
  const isSingle =
    isOneLine && more.length === 0 && !only.startsWith('@') && widthOf(indent) + single.length <= lineLength
  const mark = form === '/**' ? ' *' : form
  const marked = lines.map((line) => (line === '' ? mark : `${mark} ${line}`))
  const comment = form !== '/**' ? marked : isSingle ? [single] : ['/**', ...marked, ' */']
  return comment.map((line, at) => (at === 0 ? line : indent + line)).join(newline) + newline + indent
}

/** Tabs count as four, the usual width in formatters of these languages. */
export function widthOf(indent: string): number {
  return indent.replaceAll('\t', '    ').length
}

export function isDirective(comment: string): boolean {
  return comment.split('\n').some((line) => directive.test(line))
}
