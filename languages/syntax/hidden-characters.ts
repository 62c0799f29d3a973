/**
 * Characters that compilers, grammars and editors read differently: control characters, ends of lines that only some languages know
 * (a CR alone, U+0085, U+2028, U+2029), a byte order mark within the text, and those that show a text in another order
 * than it is read in. Where one stands in a comment, what follows may be code. U+FFFD is what is left of half a character.
 */
// eslint-disable-next-line no-control-regex
const hidden = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u2028\u2029\uFFFD]|\r(?!\n)|(?<=[^])\uFEFF|\p{Bidi_Control}/gu

/** The first such character of the text, as `U+2028`. */
export function hiddenCharacter(text: string): string | undefined {
  const [found] = text.match(hidden) ?? []
  return found === undefined ? undefined : codePoint(found)
}

/** The first such character that a change adds, in words; one that the text had may stay or move, and so may the CR of a text whose lines end with it. */
export function addedCharacter(before: string, after: string): string | undefined {
  const found = [...after.matchAll(hidden)]
  if (found.length === 0) return undefined
  const endsWithCr = before.includes('\r') && !before.includes('\n')
  const left = Map.groupBy(before.match(hidden) ?? [], (character) => character)
  for (const { 0: one, index } of found) {
    if (left.get(one)?.pop() !== undefined || (one === '\r' && endsWithCr)) continue
    const why =
      one === '\uFFFD' ? 'half a character was lost' : 'programs read it differently, and what follows may be code'
    return `line ${after.slice(0, index).split(/\r\n|\r|\n/).length}: ${codePoint(one)} is new: ${why}`
  }
  return undefined
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
