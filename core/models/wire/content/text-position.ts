/** The first character at or after `from` that is no white space; the text's length when there is none. */
export function textFrom(text: string, from: number): number {
  const blank = /\s*/y
  blank.lastIndex = from
  return from + (blank.exec(text)?.[0].length ?? 0)
}

/** Whether the text breaks off within `tag`: it ends with the tag's beginning, but not with all of it. */
export function endsInside(text: string, tag: string): boolean {
  for (let length = tag.length - 1; length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return true
  }
  return false
}
