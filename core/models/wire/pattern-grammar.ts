import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** First and last code point. */
type Span = readonly [first: number, last: number]
type Quantifiable = AST.Alternative['elements'][number]

const lastCodePoint = 0x10_ff_ff
/** What a JSON string has only behind a backslash: control characters, the quote, the backslash. No text of the grammar has them. */
const escapedInJson: readonly Span[] = [
  [0, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
]
const classes: Readonly<Record<'digit' | 'word' | 'space', readonly Span[]>> = {
  digit: [[0x30, 0x39]],
  word: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ],
  space: [
    [9, 13],
    [0x20, 0x20],
    [0xa0, 0xa0],
    [0x1680, 0x1680],
    [0x2000, 0x200a],
    [0x2028, 0x2029],
    [0x202f, 0x202f],
    [0x205f, 0x205f],
    [0x3000, 0x3000],
    [0xfeff, 0xfeff],
  ],
}

const parser = new RegExpParser()

/**
 * A `pattern` of JSON Schema in the notation of `callGrammar`, for the inside of a JSON string. Undefined where the notation has no words for
 * it: what is not bound to the beginning and the end, looks ahead or behind, or repeats what was matched.
 */
export function patternExpression(pattern: string): string | undefined {
  const parsed = parse(pattern)
  const [only, ...more] = parsed?.alternatives ?? []
  if (only === undefined || more.length > 0) return undefined
  const [first, ...rest] = only.elements
  const last = rest.pop()
  if (!isEdge(first, 'start') || !isEdge(last, 'end')) return undefined
  return sequence(rest)
}

function parse(pattern: string): AST.Pattern | undefined {
  try {
    return parser.parsePattern(pattern, 0, pattern.length, { unicode: true })
  } catch {
    return undefined
  }
}

function isEdge(element: Quantifiable | undefined, kind: 'start' | 'end'): boolean {
  return element?.type === 'Assertion' && element.kind === kind
}

function sequence(elements: readonly Quantifiable[]): string | undefined {
  if (elements.length === 0) return '""'
  return joined(
    elements.map((element) => expression(element)),
    ' ',
  )
}

/** Undefined when one of the parts has no words. */
function joined(parts: readonly (string | undefined)[], between: string): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join(between)
}

function expression(element: Quantifiable): string | undefined {
  switch (element.type) {
    case 'Character':
      return literal(element.value)
    case 'CharacterSet':
    case 'CharacterClass':
      return classOf(element)
    case 'Group':
    case 'CapturingGroup':
      return groupOf(element)
    case 'Quantifier':
      return repeated(expression(element.element), element)
    default:
      return undefined
  }
}

function groupOf(group: AST.Group | AST.CapturingGroup): string | undefined {
  if (group.type === 'Group' && group.modifiers !== null) return undefined
  const forms = group.alternatives.map(({ elements }) => sequence(elements))
  const text = joined(forms, ' | ')
  return text === undefined ? undefined : `(${text})`
}

function repeated(inner: string | undefined, { min, max }: AST.Quantifier): string | undefined {
  if (inner === undefined) return undefined
  if (max !== Infinity) return `${inner}{${min},${max}}`
  return min < 2 ? `${inner}${min === 0 ? '*' : '+'}` : `${inner}{${min},}`
}

/** The character as JSON writes it, as a literal of the grammar. */
function literal(codePoint: number): string {
  return JSON.stringify(JSON.stringify(String.fromCodePoint(codePoint)).slice(1, -1))
}

function classOf(set: AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass): string | undefined {
  const spans = spansOf(set)
  if (spans === undefined) return undefined
  const kept = without(spans, escapedInJson)
  if (kept.length === 0) return undefined
  const isWide = kept.some(([, last]) => last === lastCodePoint)
  return isWide ? `[^${complement(kept).map(spanText).join('')}]` : `[${kept.map(spanText).join('')}]`
}

type Element = AST.CharacterClassElement | AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass

function spansOf(element: Element): readonly Span[] | undefined {
  switch (element.type) {
    case 'Character':
      return [[element.value, element.value]]
    case 'CharacterClassRange':
      return [[element.min.value, element.max.value]]
    case 'CharacterSet': {
      if (element.kind === 'any')
        return complement([
          [10, 10],
          [13, 13],
          [0x2028, 0x2029],
        ])
      if (element.kind === 'property') return undefined
      return element.negate ? complement(classes[element.kind]) : classes[element.kind]
    }
    case 'CharacterClass': {
      const parts = element.elements.map((one) => spansOf(one))
      const spans = parts.flatMap((part) => part ?? [])
      if (parts.includes(undefined)) return undefined
      return element.negate ? complement(spans) : spans
    }
    default:
      return undefined
  }
}

function complement(spans: readonly Span[]): Span[] {
  return without([[0, lastCodePoint]], spans)
}

function without(spans: readonly Span[], gone: readonly Span[]): Span[] {
  return gone.reduce<Span[]>(
    (left, [first, last]) =>
      left.flatMap(([from, to]): Span[] => {
        if (last < from || first > to) return [[from, to]]
        const parts: Span[] = [
          [from, first - 1],
          [last + 1, to],
        ]
        return parts.filter(([start, end]) => start <= end)
      }),
    [...spans],
  )
}

function spanText([first, last]: Span): string {
  return first === last ? codeText(first) : `${codeText(first)}-${codeText(last)}`
}

/** A letter or a digit as it is, any other character by its number. xgrammar reads any number of digits behind `\x`, llama.cpp two, and both four behind `\u`. */
function codeText(codePoint: number): string {
  const character = String.fromCodePoint(codePoint)
  if (/^[A-Za-z0-9]$/.test(character)) return character
  const digits = codePoint.toString(16).toUpperCase()
  return codePoint <= 0xff_ff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`
}
