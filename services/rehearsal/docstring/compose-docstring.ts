import { unreachable } from '#domain/unreachable.ts'
import { docstringParts, type DocstringParts, type Entry } from './docstring-parts.ts'
import type { Signature } from './signature.ts'
import { summaryPhrase } from './summary-phrase.ts'

/**
 * A docstring in the signature's style, within its line length: text without quotes, its own indentation relative to the
 * docstring's. It never contains a backslash or three quotes, so it can stand between `"""` as it is.
 */
export function composeDocstring(signature: Signature): string {
  const parts = docstringParts(signature)
  const layout = { types: signature.types, width: signature.line_characters, indent: signature.indent }
  return [summaryLine(signature), ...layOut(parts, signature.style, layout)].join('\n\n')
}

/** The summary alone, or less of it where there is room for less. */
export function summaryLine(signature: Signature): string {
  const choices = [summaryPhrase(signature), `Handle \`${signature.name}\`.`, 'Do what the name says.']
  return choices.find((choice) => choice.length <= signature.summary_characters) ?? 'Do it.'
}

/** Whether types are named, the characters a line may have, and what a section is indented by. */
type Layout = { types: boolean; width: number; indent: string }

function layOut(parts: DocstringParts, style: Signature['style'], layout: Layout): string[] {
  switch (style) {
    case 'google':
      return titled(parts, 'Args').map(({ title, entries }) => {
        return [`${title}:`, ...entries.flatMap((entry) => googleEntry(entry, layout))].join('\n')
      })
    case 'numpy':
      return titled(parts, 'Parameters').map(({ title, entries }) => {
        return [title, '-'.repeat(title.length), ...entries.flatMap((entry) => numpyEntry(entry, layout))].join('\n')
      })
    case 'sphinx':
      return sphinxFields(parts, layout)
    case 'plain':
      return []
    default:
      return unreachable(style)
  }
}

type Section = { title: string; entries: Entry[] }

function titled(parts: DocstringParts, parametersTitle: string): Section[] {
  const sections = [
    { title: parametersTitle, entries: parts.parameters },
    { title: 'Returns', entries: parts.returns === undefined ? [] : [parts.returns] },
    { title: 'Yields', entries: parts.yields === undefined ? [] : [parts.yields] },
    { title: 'Raises', entries: parts.raises },
  ]
  return sections.filter(({ entries }) => entries.length > 0)
}

/** What stands before the colon is one piece: a type that is too long for its line is left out. */
function googleEntry({ label, type, text }: Entry, { types, width, indent }: Layout): string[] {
  const typed = label === '' ? type : type === undefined ? label : `${label} (${type})`
  const fits = types && typed !== undefined && typed.length < width - 2 * indent.length
  const head = fits ? typed : label
  return wrap(head === '' ? text : `${head}: ${text}`, { prefix: indent, deeper: indent, head: head.length, width })
}

function numpyEntry({ label, type, text }: Entry, { types, width, indent }: Layout): string[] {
  const typed = label === '' ? type : type === undefined ? label : `${label} : ${type}`
  const fits = types && typed !== undefined && typed.length <= width
  // A result is listed by its type, where it has no name.
  const head = fits ? typed : label === '' ? 'object' : label
  return [head, ...wrap(text, { prefix: indent, head: 0, width, deeper: '' })]
}

function sphinxFields(
  { parameters, returns, yields, raises }: DocstringParts,
  { types, width, indent }: Layout,
): string[] {
  const typeField = (name: string, type: string | undefined) => {
    return types && type !== undefined ? [`:${name}: ${type}`] : []
  }
  const fields = [
    ...parameters.flatMap(({ label, type, text }) => {
      const name = label.replace(/^\*+/, '')
      return [`:param ${name}: ${text}`, ...typeField(`type ${name}`, type)]
    }),
    ...(returns === undefined ? [] : [`:returns: ${returns.text}`, ...typeField('rtype', returns.type)]),
    ...(yields === undefined ? [] : [`:yields: ${yields.text}`]),
    ...raises.map(({ label, text }) => `:raises ${label}: ${text}`),
  ]
  const lines = fields.flatMap((field) => wrap(field, { prefix: '', deeper: indent, head: 0, width }))
  return lines.length === 0 ? [] : [lines.join('\n')]
}

type Wrapping = { prefix: string; deeper: string; head: number; width: number }

/** Lines of at most `width`, continued `deeper`. The first `head` characters are not broken. */
function wrap(text: string, { prefix, deeper, head, width }: Wrapping): string[] {
  const lines: string[] = []
  let line = `${prefix}${text.slice(0, head)}`
  for (const word of text.slice(head).split(' ')) {
    const isFresh = line.trim() === ''
    if (!isFresh && word !== '' && line.length + 1 + word.length > width && line.length > prefix.length + head) {
      lines.push(line)
      line = `${prefix}${deeper}${word}`
    } else {
      line = isFresh || line.length === prefix.length + head ? `${line}${word}` : `${line} ${word}`
    }
  }
  return [...lines, line]
}
