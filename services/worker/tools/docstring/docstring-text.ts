import type { DocstringStyle, TextStyle } from '#domain/path-rules.ts'
import { foreignEncoding } from '#python/declared-encoding.ts'
import { styleOfDocstring } from '#python/docstring-style.ts'
import type { DocstringRoom } from './fit-docstring.ts'

const maxDocstringLength = 4000

/** Trailing white space and shared indentation go, as `inspect.cleandoc` does; surrounding quotes of a model too. */
export function normalised(raw: string): string {
  const bare = raw.trim().replace(/^[rRuU]?("""|''')([\s\S]*)\1$/, '$2')
  const [first = '', ...rest] = bare.split(/\r\n|\r|\n/).map((line) => line.trimEnd().replaceAll('\t', '    '))
  const margins = rest.filter((line) => line !== '').map((line) => line.length - line.trimStart().length)
  const margin = margins.length === 0 ? 0 : Math.min(...margins)
  return [first.trimStart(), ...rest.map((line) => line.slice(margin))].join('\n').trim()
}

/** Why a text cannot be a docstring at all, whatever file it is for. */
export function faultOfContent(content: string, quotes: TextStyle['docstringQuotes']): string | undefined {
  if (content === '') return 'the docstring is empty'
  if (content.length > maxDocstringLength) return `the docstring is longer than ${maxDocstringLength} characters`
  if (content.includes(quotes)) return `the docstring contains ${quotes}`
  // eslint-disable-next-line no-control-regex
  if (/[\0-\x08\x0b-\x1f\x7f]/.test(content)) return 'the docstring contains control characters'
  if (content.endsWith('\\')) return 'the docstring ends with a backslash'
  if (!content.isWellFormed()) return 'the docstring contains half a character'
  return undefined
}

export function faultOfEncoding(content: string, source: string): string | undefined {
  const encoding = foreignEncoding(source)
  const isAscii = /^[\0-\x7F]*$/.test(content)
  return encoding === undefined || isAscii ? undefined : `the file declares ${encoding}: the docstring must be ASCII`
}

const forms: Readonly<Record<DocstringStyle, string>> = {
  google: '"Args:", then "    name (type): text" on lines of their own; "Returns:", then "    type: text"',
  numpy: '"Parameters" underlined with "----------", then "name : type" and, indented, the text; "Returns" likewise',
  sphinx: '":param name: text", ":returns: text", ":raises Name: text", each on a line of its own',
  plain: 'sentences alone, without sections',
}

/** A text without sections suits every style; sections have to be in that of the file. */
export function faultOfStyle(content: string, style: DocstringStyle): string | undefined {
  const written = styleOfDocstring(content)
  if (written === 'plain' || written === style) return undefined
  return `the sections are in ${written} style, and docstrings are in ${style} style here: ${forms[style]}`
}

/** What there is room for at an indentation; `prefix` is what stands before the quotes. */
export function docstringRoom(indent: string, text: TextStyle, prefix: '' | 'r' = ''): DocstringRoom {
  const limit = Math.min(text.lineLength, text.docLength ?? text.lineLength)
  const line = Math.max(1, limit - indent.replaceAll('\t', '    ').length)
  const opening = prefix.length + 3
  const isBelow = text.docstringSummary === 'second_line'
  return { line, single: Math.max(1, line - opening - 3), summary: isBelow ? line : Math.max(1, line - opening) }
}

export type QuotedPlace = { indent: string; newline: string; text: TextStyle }

/** A backslash stands for itself in a raw string alone. */
export function prefixOf(content: string): '' | 'r' {
  return content.includes('\\') ? 'r' : ''
}

/** The docstring as it stands in the source, from quote to quote. */
export function quoted(content: string, { indent, newline, text }: QuotedPlace): string {
  const { docstringQuotes: quotes, docstringSummary } = text
  const prefix = prefixOf(content)
  const lines = content.split('\n')
  const fits = content.length <= docstringRoom(indent, text, prefix).single
  if (lines.length === 1 && fits && !content.endsWith(quotes.charAt(0))) return `${prefix}${quotes}${content}${quotes}`
  const isBelow = docstringSummary === 'second_line'
  const indented = lines.map((line, at) => (line === '' || (at === 0 && !isBelow) ? line : indent + line))
  const written = isBelow ? ['', ...indented] : indented
  return `${prefix}${quotes}${written.join(newline)}${newline}${indent}${quotes}`
}
