/** The two lines Python looks at, and what a declaration is there (language reference, 2.1.4). */
const leadingLines = /^\uFEFF?([^\r\n]*)(?:\r\n|\r|\n)?([^\r\n]*)/
const declaration = /^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)/
const blankOrComment = /^[ \t\f]*(?:#.*)?$/

/** The encoding a Python source declares in its first two lines, lower case; undefined for none, and for UTF-8. */
export function foreignEncoding(source: string): string | undefined {
  const [, first = '', second = ''] = leadingLines.exec(source) ?? []
  const declared = declaration.exec(first) ?? (blankOrComment.test(first) ? declaration.exec(second) : null)
  const name = declared?.[1]?.toLowerCase().replaceAll('_', '-')
  return name === undefined || /^utf-?8(-|$)/.test(name) ? undefined : name
}

/** Characters that Python reads wrongly, or not at all: those beyond ASCII, which are UTF-8, where it is told another. */
export function misencodedCharacters(source: string): number {
  if (foreignEncoding(source) === undefined) return 0
  return source.replaceAll(/[\0-\x7F]/g, '').length
}
