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
