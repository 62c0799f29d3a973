import { stripVTControlCharacters } from 'node:util'

/**
 * What a terminal obeys instead of showing it: control characters but the newline and the tab, and what turns the
 * direction of writing.
 */
const obeyed = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu
const ends = /[\n\t]/g

/** Text of others (names, paths, words of a model) with `\u001b` and the like for what a terminal would obey. */
export function visible(text: string): string {
  return text.replaceAll(obeyed, escaped)
}

/** The same for a name within a line, which must not look like another line. */
export function visibleName(text: string): string {
  return visible(text).replaceAll(ends, escaped)
}

function escaped(char: string): string {
  return `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}

/** The same for one line of a picture: without what a terminal would obey, and without newlines. */
export function onOneLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(obeyed, ' ').replaceAll(ends, ' ')
}
