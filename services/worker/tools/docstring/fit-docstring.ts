import type { DocstringStyle } from '#domain/path-rules.ts'

/** Characters that the lines of a docstring's text may have, without their indentation. */
export type DocstringRoom = {
  /** The first line, which stands behind the quotes or below them. */
  summary: number
  /** A text of one line, with both quotes around it. */
  single: number
  line: number
}

export type FittedDocstring = { kind: 'fits'; content: string } | { kind: 'too_long'; reason: string }

/**
 * The text with no line longer than there is room. A line that is too long is broken with the rest of its paragraph, and
 * goes on as its form asks: under the text of a list item, one level deeper in an entry of a section. Code, tables and
 * addresses are never broken. A text that cannot be made to fit so is answered with what to do about it.
 */
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

/** Lines that belong together. `head` is what the first line must keep; the lines after it stand at `indent`. */
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

/** Where the code, the table or the title that begins here ends; undefined for prose. */
function fixedUntil(lines: readonly string[], at: number, style: DocstringStyle): number | undefined {
  const line = lines[at] ?? ''
  const isTitled = /^\s*[-=~^]{3,}\s*$/.test(lines[at + 1] ?? '')
  if (line.trim() === '' || sectionTitle.test(line) || isTitled) return at + 1
  if (style === 'numpy' && numpyHead.test(line)) return at + 1
  const isFence = line.trimStart().startsWith('```')
  if (isFence) return untilAfter(lines, at + 1, (next) => next.trimStart().startsWith('```'))
  if (line.trimStart().startsWith('>>>')) return untilBlank(lines, at)
  if (opensCode.test(line)) return untilOutdented(lines, at)
  // A literal block of reStructuredText: the paragraph before it ends in two colons.
  const before = lines.slice(0, at).findLast((one) => one.trim() !== '') ?? ''
  const isLiteral = before.trimEnd().endsWith('::') && indentOf(line).length > indentOf(before).length
  return isLiteral ? untilOutdented(lines, at, indentOf(before).length + 1) : undefined
}

function untilAfter(lines: readonly string[], from: number, isLast: (line: string) => boolean): number {
  const last = lines.findIndex((line, at) => at >= from && isLast(line))
  return last === -1 ? lines.length : last + 1
}

function untilBlank(lines: readonly string[], from: number): number {
  const blank = lines.findIndex((line, at) => at > from && line.trim() === '')
  return blank === -1 ? lines.length : blank
}

/** Up to the next line that is indented less than `least`: by default, as little as the line the block begins with. */
function untilOutdented(lines: readonly string[], from: number, least?: number): number {
  const margin = least ?? indentOf(lines[from] ?? '').length + 1
  const end = lines.findIndex((line, at) => at > from && line.trim() !== '' && indentOf(line).length < margin)
  return end === -1 ? lines.length : end
}

/** A paragraph ends at an empty line, at the next item or entry, and where the indentation changes back. */
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

/** The block as it is while it fits. Else its words, filled into lines; the head stays in one piece. */
function wrapped({ lines, head, indent }: Block, width: number): string[] {
  if (lines.every((line) => line.length <= width)) return lines
  const [first = ''] = lines
  const start = head === '' ? indentOf(first) : head.trimEnd()
  const text = [first.slice(head === '' ? start.length : head.length), ...lines.slice(1)].join(' ')
  const filled: string[] = []
  let line = start
  let isFresh = head === ''
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const next = isFresh ? `${line}${word}` : `${line} ${word}`
    if (next.length <= width || line.trim() === '') {
      line = next
    } else {
      filled.push(line)
      line = `${indent}${word}`
    }
    isFresh = false
  }
  return [...filled, line]
}

/** One long word that is an address: linters let it stand. */
function isAddress(line: string): boolean {
  return /^\s*\S*(?:https?|ftp):\/\/\S+\s*$/.test(line)
}

function tooLong(line: string, width: number): string {
  const shown = line.trim().length > 60 ? `${line.trim().slice(0, 60)}…` : line.trim()
  return `the line "${shown}" has ${line.length} characters, cannot be broken, and there is room for ${width}: shorten it`
}
