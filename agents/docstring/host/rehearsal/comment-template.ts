import { unreachable } from '#domain/error.ts'
import { type CommentStyle, type Entry, isCommentStyle, type Section, type Signature } from './signature.ts'

/** A doc comment for show, as `docstringFor` makes a docstring: the summary, and the tags or sections of the style. */
export function commentFor(
  summary: string,
  sections: readonly Section[],
  { style, types }: Signature & { style: CommentStyle },
): string {
  switch (style) {
    case 'tsdoc':
    case 'jsdoc':
    case 'javadoc': {
      const lines = sections.flatMap(({ title, entries }) =>
        entries.map((entry) => tagLine(title, entry, { style, types })),
      )
      return [summary, ...(lines.length === 0 ? [] : [lines.join('\n')])].join('\n\n')
    }
    case 'rustdoc':
    case 'godoc':
      return summary
    default:
      return unreachable(style)
  }
}

type TagStyle = { style: 'tsdoc' | 'jsdoc' | 'javadoc'; types: boolean }

function tagLine(title: Section['title'], { name, type, text }: Entry, { style, types }: TagStyle): string {
  const typed = style === 'jsdoc' && types ? `{${type ?? '*'}} ` : ''
  const dash = style === 'javadoc' ? '' : '- '
  switch (title) {
    case 'Args':
      return `@param ${typed}${name.replace(/^\*+/, '')} ${dash}${text}`
    case 'Returns':
      return `@${style === 'javadoc' ? 'return' : 'returns'} ${typed}${text}`
    case 'Yields':
      return style === 'jsdoc' ? `@yields ${typed}${text}` : `@returns The items, one after the other.`
    case 'Raises':
      return `@throws ${{ tsdoc: `{@link ${name}}`, jsdoc: `{${name}}`, javadoc: name }[style]} ${text}`
    default:
      return unreachable(title)
  }
}

/** Go, Rust and Java describe in the third person; in Go the name comes first. */
export function inVoice(summary: string, { style, name, kind }: Signature): string {
  if (!isCommentStyle(style) || style === 'tsdoc' || style === 'jsdoc') return summary
  const [verb = '', ...rest] = summary.split(' ')
  const described = [thirdPerson(verb), ...rest].join(' ')
  if (style !== 'godoc') return described
  // Comments of Go have no mark for code.
  const plain = described.replaceAll('`', '')
  if (plain.startsWith('Defines')) return `${name} is a ${kind} of this package.`
  return `${name} ${plain.charAt(0).toLowerCase()}${plain.slice(1)}`
}

function thirdPerson(verb: string): string {
  const bare = verb.replace(/\.$/, '')
  const dot = bare === verb ? '' : '.'
  if (/(?:s|sh|ch|x|z|o)$/.test(bare)) return `${bare}es${dot}`
  return `${/[^aeiou]y$/.test(bare) ? `${bare.slice(0, -1)}ie` : bare}s${dot}`
}
