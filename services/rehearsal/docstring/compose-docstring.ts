import { unreachable } from '#domain/unreachable.ts'
import { docstringParts, type DocstringParts, type Entry } from './docstring-parts.ts'
import type { Signature } from './signature.ts'
import { summaryPhrase } from './summary-phrase.ts'

const indent = '    '
const maxWidth = 76

/**
 * A docstring in the signature's style: text without quotes, its own indentation relative to the docstring's. It never
 * contains a backslash or three quotes, so it can stand between `"""` as it is.
 */
export function composeDocstring(signature: Signature): string {
  const parts = docstringParts(signature)
  const sections = layOut(parts, signature.style)
  return [parts.summary, ...sections].join('\n\n')
}

/** The summary alone. */
export function summaryLine(signature: Signature): string {
  return summaryPhrase(signature)
}

function layOut(parts: DocstringParts, style: Signature['style']): string[] {
  switch (style) {
    case 'google':
      return googleSections(parts)
    case 'numpy':
      return numpySections(parts)
    case 'sphinx':
      return sphinxSections(parts)
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

function googleSections(parts: DocstringParts): string[] {
  return titled(parts, 'Args').map(({ title, entries }) => [`${title}:`, ...entries.flatMap(googleEntry)].join('\n'))
}

function googleEntry({ label, type, text }: Entry): string[] {
  const head = label === '' ? type : type === undefined ? label : `${label} (${type})`
  return wrap(head === undefined ? text : `${head}: ${text}`, indent)
}

function numpySections(parts: DocstringParts): string[] {
  return titled(parts, 'Parameters').map(({ title, entries }) =>
    [title, '-'.repeat(title.length), ...entries.flatMap(numpyEntry)].join('\n'),
  )
}

function numpyEntry({ label, type, text }: Entry): string[] {
  const head = label === '' ? (type ?? 'object') : type === undefined ? label : `${label} : ${type}`
  return [head, ...wrap(text, indent)]
}

function sphinxSections(parts: DocstringParts): string[] {
  const fields = [
    ...parts.parameters.flatMap(({ label, type, text }) => [
      `:param ${label}: ${text}`,
      ...(type === undefined ? [] : [`:type ${label}: ${type}`]),
    ]),
    ...[parts.returns, parts.yields].flatMap((entry) =>
      entry === undefined
        ? []
        : [`:returns: ${entry.text}`, ...(entry.type === undefined ? [] : [`:rtype: ${entry.type}`])],
    ),
    ...parts.raises.map(({ label, text }) => `:raises ${label}: ${text}`),
  ]
  return fields.length === 0 ? [] : [fields.join('\n')]
}

/** Lines of at most `maxWidth`, continued one indentation deeper; a longer word stands alone. */
function wrap(text: string, prefix: string): string[] {
  const lines: string[] = []
  let line = prefix
  for (const word of text.split(' ')) {
    const isFresh = line.trim() === ''
    if (!isFresh && line.length + 1 + word.length > maxWidth) {
      lines.push(line)
      line = `${prefix}${indent}${word}`
    } else {
      line = isFresh ? `${line}${word}` : `${line} ${word}`
    }
  }
  return [...lines, line]
}
