import { visible, widthOf, wrap } from '../terminal-text.ts'

/** Matches what takes two columns of a terminal: the characters of East Asia, and pictures. */
const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303F\uFF01-\uFF60\uFFE0-\uFFE6]/u
const plainText = /^[\x20-\x7E]*$/
const tabWidth = 4
const longLine = 2_000
const segmenter = new Intl.Segmenter()

/** Returns the characters as a person counts them. */
export function charactersOf(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

function columnsOf(character: string): number {
  return wide.test(character) ? 2 : 1
}

/** Returns the text with blanks for tabs, in pieces of at most `width` columns; one empty piece for no text. */
export function fold(text: string, width: number): string[] {
  if (plainText.test(text)) return foldPlain(text, width)
  const pieces: string[] = []
  let piece = ''
  let used = 0
  for (const character of charactersOf(text)) {
    const shown = character === '\t' ? ' '.repeat(tabWidth - (used % tabWidth)) : character
    const columns = character === '\t' ? shown.length : columnsOf(character)
    if (used + columns > width) {
      pieces.push(piece)
      piece = ''
      used = 0
    }
    piece += shown
    used += columns
  }
  return [...pieces, piece]
}

function foldPlain(text: string, width: number): string[] {
  const pieces: string[] = []
  for (let start = 0; start === 0 || start < text.length; start += width) pieces.push(text.slice(start, start + width))
  return pieces
}

/** Breaks code after a blank in the second half of a line, if there is one. A line of thousands of characters is not read by words. */
export function foldCode(text: string, width: number): string[] {
  if (text.length > longLine) return fold(text, width)
  const [first = ''] = fold(text, Infinity)
  const pieces: string[] = []
  let rest = first
  for (;;) {
    const [piece = '', ...more] = fold(rest, width)
    if (more.length === 0) return [...pieces, piece]
    const next = more[0] ?? ''
    const blank = next.startsWith(' ') ? piece.length - 1 : piece.lastIndexOf(' ')
    const end = blank < piece.length / 2 ? piece.length : blank + 1
    pieces.push(piece.slice(0, end))
    rest = rest.slice(end)
  }
}

/** Returns untrusted prose in lines of at most `width` columns, broken at blanks where there are any. */
export function foldProse(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => wrap(line, width).flatMap((part) => fold(part, width)))
}

/** A line of code that is quoted behind `|`, or of what is said of that. */
export function foldQuoted(line: string, width: number): string[] {
  return line.startsWith('  |') ? fold(visible(line), width) : foldProse(visible(line), width)
}

/** Returns the beginning of the text, with `…` at its end when it does not fit. */
export function clipTo(text: string, width: number): string {
  const [first = '', ...rest] = fold(text, width)
  if (rest.length === 0) return first
  return `${fold(text, Math.max(1, width - 1))[0] ?? ''}…`
}

/** Returns as many of the last characters as there is room for. */
export function endOf(text: string, width: number): string {
  const all = charactersOf(text)
  let left = width
  let first = all.length
  while (first > 0) {
    left -= columnsOf(all[first - 1] ?? '')
    if (left < 0) break
    first -= 1
  }
  return all.slice(first).join('')
}

/** `left` and `right` at the two ends of a line; `left` is cut when both do not fit. */
export function bothEnds(left: string, right: string, width: number): string {
  const room = width - widthOf(right) - 2
  if (room < 1) return clipTo(left, width)
  const shown = clipTo(left, room)
  let used = widthOf(right)
  for (const character of charactersOf(shown)) used += columnsOf(character)
  return `${shown}${' '.repeat(Math.max(0, width - used))}${right}`
}
