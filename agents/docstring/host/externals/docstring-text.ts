import type { DocstringStyle, TextStyle } from '#domain/path-rules.ts'
import { foreignEncoding } from '#languages/python/python-file.ts'
import { styleOfDocstring } from '#languages/python/docstring-style.ts'
import { docstringTrap } from '#languages/python/docstring-traps.ts'
import { hiddenCharacter } from '#languages/syntax/hidden-characters.ts'

const maxDocstringLength = 4000

/** Removes trailing white space and shared indentation, as `inspect.cleandoc` does, and quotes that the model added. */
export function normalised(raw: string): string {
  const bare = raw.trim().replace(/^[rRuU]?("""|''')([\s\S]*)\1$/, '$2')
  const [first = '', ...rest] = bare.split(/\r\n|\r|\n/).map((line) => line.trimEnd().replaceAll('\t', '    '))
  const margins = rest.filter((line) => line !== '').map((line) => line.length - line.trimStart().length)
  const margin = margins.length === 0 ? 0 : Math.min(...margins)
  return [first.trimStart(), ...rest.map((line) => line.slice(margin))].join('\n').trim()
}

export function faultOfContent(content: string, quotes: TextStyle['docstringQuotes']): string | undefined {
  if (content === '') return 'the docstring is empty'
  if (content.length > maxDocstringLength) return `the docstring is longer than ${maxDocstringLength} characters`
  if (content.includes(quotes)) return `the docstring contains ${quotes}`
  const hidden = hiddenCharacter(content)
  if (hidden !== undefined) return `the docstring contains control characters: ${hidden}`
  if (content.endsWith('\\')) return 'the docstring ends with a backslash'
  if (!content.isWellFormed()) return 'the docstring contains half a character'
  return docstringTrap(content)
}

/** Says why a text tells nothing of the definition with this `code`: small models repeat what they read, or themselves. */
export function faultOfMeaning(content: string, { name, code }: { name: string; code: string }): string | undefined {
  const bare = content.replaceAll(/[`'"()]/g, '').replace(/[.:]$/, '')
  if (bare === name || bare.endsWith(`.${name}`)) return 'the docstring is only the name: say what the code does'
  const isOfDocstrings = /\bdocstrings?\b/i.test(content) && !/doc/i.test(code)
  if (isOfDocstrings) return 'the docstring speaks of docstrings, and the code has none: say what the code does'
  const repeated = repeatedWords(content)
  return repeated === undefined ? undefined : `the docstring repeats "${repeated}": say it once`
}

const longestRepeat = 24
const fewestRepeated = 6

/** Words that follow one another three times, six words in all at least. */
function repeatedWords(content: string): string | undefined {
  const words = content.split(/\s+/)
  for (let length = 1; length <= longestRepeat; length++) {
    const needed = Math.max(2 * length, fewestRepeated - length)
    for (let at = length, same = 0; at < words.length; at++) {
      same = words[at] === words[at - length] ? same + 1 : 0
      if (same >= needed)
        return words
          .slice(at - length + 1, at + 1)
          .join(' ')
          .slice(0, 80)
    }
  }
  return undefined
}

export function faultOfEncoding(content: string, source: string): string | undefined {
  const encoding = foreignEncoding(source)
  const isAscii = /^[\0-\x7F]*$/.test(content)
  return encoding === undefined || isAscii ? undefined : `the file declares ${encoding}: the docstring must be ASCII`
}

const forms: Readonly<Record<DocstringStyle, string>> = {
  google: '"Args:", then "    name (type): text" on lines of their own; "Returns:", then "    type: text"',
  numpy: '"Parameters" underlined with "----------", then "name : type" and, indented, the text; "Returns" likewise',
  sphinx: '":param name: text", ":returns: text", ":raises Name: text", each on a line of its own',
  plain: 'sentences alone, without sections',
}

/** A text without sections fits every style; sections must be in the style of the file. */
export function faultOfStyle(content: string, style: DocstringStyle): string | undefined {
  const written = styleOfDocstring(content)
  if (written === 'plain' || written === style) return undefined
  return `the sections are in ${written} style, and docstrings are in ${style} style here: ${forms[style]}`
}

/** Returns how long lines may be at an indentation, with `prefix` before the quotes: the summary, a single line, and any other. */
export function docstringRoom(indent: string, text: TextStyle, prefix: '' | 'r' = '') {
  const limit = Math.min(text.lineLength, text.docLength ?? text.lineLength)
  const line = Math.max(1, limit - indent.replaceAll('\t', '    ').length)
  const opening = prefix.length + 3
  const isBelow = text.docstringSummary === 'second_line'
  return { line, single: Math.max(1, line - opening - 3), summary: isBelow ? line : Math.max(1, line - opening) }
}

export type QuotedPlace = { indent: string; newline: string; text: TextStyle }

/** Only a raw string takes a backslash literally. */
export function prefixOf(content: string): '' | 'r' {
  return content.includes('\\') ? 'r' : ''
}

export function quoted(content: string, { indent, newline, text }: QuotedPlace): string {
  const quotes = text.docstringQuotes
  const prefix = prefixOf(content)
  const isTabbed = /^\t+$/.test(indent)
  const lines = content.split('\n').map((line) => (isTabbed ? withTabs(line) : line))
  const fits = content.length <= docstringRoom(indent, text, prefix).single
  if (lines.length === 1 && fits && !content.endsWith(quotes.charAt(0))) return `${prefix}${quotes}${content}${quotes}`
  const isBelow = text.docstringSummary === 'second_line'
  const indented = lines.map((line, at) => (line === '' || (at === 0 && !isBelow) ? line : indent + line))
  const written = isBelow ? ['', ...indented] : indented
  return `${prefix}${quotes}${written.join(newline)}${newline}${indent}${quotes}`
}

function withTabs(line: string): string {
  return line.replace(/^(?: {4})+/, (blanks) => '\t'.repeat(blanks.length / 4))
}

type DocstringRoom = ReturnType<typeof docstringRoom>
type FittedDocstring = { kind: 'fits'; content: string } | { kind: 'too_long'; reason: string }

/** Wraps paragraphs and entries so that every line fits; code, tables and URLs are never broken. The reason says what to change. */
export function fitDocstring(content: string, style: DocstringStyle, room: DocstringRoom): FittedDocstring {
  const [summary = '', ...rest] = content.split('\n')
  const first = rest.length === 0 ? Math.max(room.single, room.summary) : room.summary
  if (summary.length > first) {
    const count = `the first line has ${summary.length} characters`
    return { kind: 'too_long', reason: `${count}, and there is room for ${first}: say it in fewer words` }
  }
  const lines: string[] = []
  for (const block of blocksOf(rest, style)) {
    const fitted = block.isFixed ? block.lines : wrapped(block, room.line)
    const long = fitted.find((line) => line.length > room.line && !isAddress(line))
    if (long !== undefined) return { kind: 'too_long', reason: tooLong(long, room.line) }
    lines.push(...fitted)
  }
  return { kind: 'fits', content: [summary, ...lines].join('\n') }
}

/** Lines that belong together. The first line keeps its `head`; the lines after it are indented by `indent`. */
type Block = { lines: string[]; isFixed: boolean; head: string; indent: string }

const deeper = '    '
const listItem = /^\s*(?:[-*+•]|\d+[.)]|\(?[a-z\d][.)])\s+/
const fieldHead = /^\s*:[a-z]+(?:\s[^:]*)?:\s*/
const entryHead = /^\s+\*{0,2}[\w.]+(?:,\s\*{0,2}\w+)*\s?(?:\(.*?\))?:\s+/
const numpyHead = /^\*{0,2}\w+(?:, \*{0,2}\w+)* : \S/
const sectionTitle =
  /^[ \t]*(?:Args|Arguments|Parameters|Returns?|Yields?|Raises|Attributes|Examples?|Notes?|See Also|Keyword \w+|Other \w+):?[ \t]*$/
const opensCode = /^\s*(?:>>>|\.\.\s|```|[|+=~^*#-]{3,}|\|\s)/
const indentOf = (line: string) => /^\s*/.exec(line)?.[0] ?? ''

function blocksOf(lines: readonly string[], style: DocstringStyle): Block[] {
  const blocks: Block[] = []
  for (let at = 0; at < lines.length;) {
    const end = fixedUntil(lines, at, style)
    const stop = end ?? paragraphEnd(lines, at, style)
    const own = lines.slice(at, stop)
    blocks.push({ lines: own, isFixed: end !== undefined, ...formOf(own, style) })
    at = stop
  }
  return blocks
}

/** Returns where the code, table or title that begins here ends; undefined for prose. */
function fixedUntil(lines: readonly string[], at: number, style: DocstringStyle): number | undefined {
  const line = lines[at] ?? ''
  const isTitled = /^\s*[-=~^]{3,}\s*$/.test(lines[at + 1] ?? '')
  if (line.trim() === '' || sectionTitle.test(line) || isTitled) return at + 1
  if (style === 'numpy' && numpyHead.test(line)) return at + 1
  const isFence = line.trimStart().startsWith('```')
  if (isFence) return Math.min(lines.length, lineAfter(lines, at, (next) => next.trimStart().startsWith('```')) + 1)
  if (line.trimStart().startsWith('>>>')) return lineAfter(lines, at, (next) => next.trim() === '')
  if (opensCode.test(line)) return lineAfter(lines, at, isOutdented(indentOf(line).length + 1))
  // A literal block of reStructuredText: the paragraph before it ends in two colons.
  const before = lines.slice(0, at).findLast((above) => above.trim() !== '') ?? ''
  const isLiteral = before.trimEnd().endsWith('::') && indentOf(line).length > indentOf(before).length
  return isLiteral ? lineAfter(lines, at, isOutdented(indentOf(before).length + 1)) : undefined
}

function lineAfter(lines: readonly string[], from: number, isWanted: (line: string) => boolean): number {
  const next = lines.findIndex((line, at) => at > from && isWanted(line))
  return next === -1 ? lines.length : next
}

function isOutdented(margin: number): (line: string) => boolean {
  return (line) => line.trim() !== '' && indentOf(line).length < margin
}

/** A paragraph ends at an empty line, at the next item or entry, and where the indentation returns. */
function paragraphEnd(lines: readonly string[], from: number, style: DocstringStyle): number {
  const first = lines[from] ?? ''
  const { head } = formOf([first], style)
  const margin = indentOf(first).length
  for (let at = from + 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const depth = indentOf(line).length
    const isNew = line.trim() === '' || listItem.test(line) || fieldHead.test(line) || opensCode.test(line)
    const isContinued = head === '' ? depth === margin : depth > margin
    if (isNew || !isContinued || fixedUntil(lines, at, style) !== undefined) return at
  }
  return lines.length
}

function formOf([first = '', second]: readonly string[], style: DocstringStyle): { head: string; indent: string } {
  const item = listItem.exec(first)?.[0]
  if (item !== undefined) return { head: item, indent: ' '.repeat(item.length) }
  const isEntry = style === 'google' && entryHead.test(first)
  const head = fieldHead.exec(first)?.[0] ?? (isEntry ? entryHead.exec(first)?.[0] : undefined)
  if (head === undefined) return { head: '', indent: indentOf(first) }
  const continued = second === undefined ? '' : indentOf(second)
  const isDeeper = continued.length > indentOf(first).length
  return { head, indent: isDeeper ? continued : `${indentOf(first)}${deeper}` }
}

function wrapped({ lines, head, indent }: Block, width: number): string[] {
  if (lines.every((line) => line.length <= width)) return lines
  const [first = ''] = lines
  const start = head === '' ? indentOf(first) : head.trimEnd()
  const text = [first.slice(head === '' ? start.length : head.length), ...lines.slice(1)].join(' ')
  const filled: string[] = []
  let line = start
  let isFresh = head === ''
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const next = isFresh ? `${line}${word}` : `${line} ${word}`
    if (next.length <= width || line.trim() === '') line = next
    else {
      filled.push(line)
      line = `${indent}${word}`
    }
    isFresh = false
  }
  return [...filled, line]
}

/** A line that is a single URL; linters allow it to be too long. */
function isAddress(line: string): boolean {
  return /^\s*\S*(?:https?|ftp):\/\/\S+\s*$/.test(line)
}

function tooLong(line: string, width: number): string {
  const shown = line.trim().length > 60 ? `${line.trim().slice(0, 60)}…` : line.trim()
  return `the line "${shown}" has ${line.length} characters, cannot be broken, and there is room for ${width}: shorten it`
}
