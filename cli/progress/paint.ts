import { styleText, stripVTControlCharacters } from 'node:util'
import { onOneLine } from '../visible.ts'

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan'

/** Adds colour, or nothing at all. */
export type Paint = (style: Style, text: string) => string

export function openPaint(colored: boolean): Paint {
  return colored ? (style, text) => styleText(style, text, { validateStream: false }) : (_style, text) => text
}

/** Columns a text takes, its colours aside; close enough for the Latin text we write. */
export function widthOf(text: string): number {
  return stripVTControlCharacters(text).length
}

/** Untrusted text (names, model output) without control characters, cut to `width` columns. */
export function clip(text: string, width: number): string {
  const clean = onOneLine(text)
  return clean.length <= width ? clean : `${clean.slice(0, Math.max(0, width - 1))}…`
}

/**
 * Untrusted text without control characters, in lines of at most `width` columns: broken at blanks, all but the first line two
 * columns deeper. Nothing is cut: a word that is wider than a line stays whole.
 */
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
