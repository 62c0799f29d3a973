import { stripVTControlCharacters, styleText } from 'node:util'
import { escapedCharacter, terminalControls } from '#domain/terminal-controls.ts'

const ends = /[\n\t]/g

/** Returns untrusted text (names, paths, model output) with terminal control characters escaped, as `\u001b`. */
export function visible(text: string): string {
  return text.replaceAll(terminalControls, escapedCharacter)
}

/** Returns the same for a name within a line: newlines and tabs are escaped, too. */
export function visibleName(text: string): string {
  return visible(text).replaceAll(ends, escapedCharacter)
}

/** Returns untrusted text for one line of a screen: control characters and newlines are removed or replaced by blanks. */
export function onOneLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(terminalControls, ' ').replaceAll(ends, ' ')
}

type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan'

export type Paint = (style: Style, text: string) => string

export function openPaint(colored: boolean): Paint {
  return colored ? (style, text) => styleText(style, text, { validateStream: false }) : (_style, text) => text
}

/** Returns the columns that a text takes without its colours. Exact enough for the Latin text we write. */
export function widthOf(text: string): number {
  return stripVTControlCharacters(text).length
}

/** Returns untrusted text (names, model output) without control characters, cut to `width` columns. */
export function clip(text: string, width: number): string {
  const clean = onOneLine(text)
  return clean.length <= width ? clean : `${clean.slice(0, Math.max(0, width - 1))}…`
}

/** Breaks untrusted text at blanks, all lines but the first two columns deeper. A word that is wider than a line stays whole. */
export function wrap(text: string, width: number): string[] {
  const clean = onOneLine(text)
  if (clean.length <= width) return [clean]
  const start = clean.length - clean.trimStart().length
  const lines: string[] = []
  let line = ''
  for (const word of clean.slice(start).split(/ (?! )/)) {
    const isFirst = line === ''
    if (!isFirst && line.length + 1 + word.trimEnd().length > width) {
      lines.push(line.trimEnd())
      line = `${' '.repeat(start + 2)}${word}`
    } else line = isFirst ? `${clean.slice(0, start)}${word}` : `${line} ${word}`
  }
  return [...lines, line]
}

/** Writes rows as lines of aligned columns, two blanks apart. `figures` aligns all columns but the first to the right. */
export function textTable(rows: readonly (readonly string[])[], columns: 'figures' | 'texts' = 'figures'): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: count }, (_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ''))))
  return rows.map((row) => {
    const padded = row.map((text, at) => {
      const blank = ' '.repeat((widths[at] ?? 0) - widthOf(text))
      return at === 0 || columns === 'texts' ? `${text}${blank}` : `${blank}${text}`
    })
    return padded.join('  ').trimEnd()
  })
}

const fenceLine = /^(?<fence>`{3,})\S*$/

/** Makes headings bold and fences dim; text between fences stays as it is. */
export function paintMarkdown(markdown: string, paint: Paint): string {
  let fence: string | undefined
  const painted = markdown.split('\n').map((line) => {
    const opening = fenceLine.exec(line)?.groups?.['fence']
    if (fence !== undefined) {
      if (line !== fence) return line
      fence = undefined
      return paint('dim', line)
    }
    fence = opening
    if (opening !== undefined || line.startsWith('- ')) return paint('dim', line)
    return line.startsWith('#') ? paint('bold', line) : line
  })
  return painted.join('\n')
}
