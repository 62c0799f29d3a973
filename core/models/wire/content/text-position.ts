/** The first character at or after `from` that is no white space, nor of `also`; the text's length when there is none. */
export function textFrom(text: string, from: number, also = ''): number {
  let at = from
  while (at < text.length && (/\s/.test(text.charAt(at)) || also.includes(text.charAt(at)))) at += 1
  return at
}

/** Whether nothing but blanks stands between `at` and the beginning of its line, or `from` when that is later. */
export function beginsLine(text: string, at: number, from = 0): boolean {
  let before = at - 1
  while (before >= from && (text[before] === ' ' || text[before] === '\t')) before -= 1
  return before < from || text[before] === '\n' || text[before] === '\r'
}
