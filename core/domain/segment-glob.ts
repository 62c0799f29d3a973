import { star, starMatch } from '#domain/star-match.ts'

/** Ranges of code points, ends included. */
type CharacterClass = { negated: boolean; ranges: readonly (readonly [first: number, last: number])[] }
type Part = string | CharacterClass

/** The pattern of one path segment: literal text, `*`, `?` and `[a-z]`. */
export type SegmentGlob = { parts: readonly (Part | typeof star)[]; wildcards: number }

const anyCharacter: CharacterClass = { negated: true, ranges: [] }

/** Reads `*`, `?`, `[abc]`, `[a-z]`, `[!a]`; a backslash takes the next character as it is. Nothing else is special. */
export function parseSegmentGlob(source: string): SegmentGlob {
  const parts: (Part | typeof star)[] = []
  let wildcards = 0
  let literal = ''
  const add = (part: CharacterClass | typeof star) => {
    if (literal !== '') parts.push(literal)
    literal = ''
    if (part === star && parts.at(-1) === star) return
    parts.push(part)
    wildcards += part === star ? 1 : Math.max(1, part.ranges.length)
  }
  for (let at = 0; at < source.length; at++) {
    const character = source[at] ?? ''
    const found = character === '[' ? readClass(source, at) : undefined
    if (found !== undefined) {
      add(found.part)
      at = found.end
    } else if (character === '*') add(star)
    else if (character === '?') add(anyCharacter)
    else if (character === '\\' && at + 1 < source.length) literal += source[++at] ?? ''
    else literal += character
  }
  if (literal !== '') parts.push(literal)
  return { parts, wildcards }
}

export function matchesSegment({ parts }: SegmentGlob, segment: string): boolean {
  return starMatch<Part>(parts, segment.length, (part, at) => {
    if (typeof part === 'string') return segment.startsWith(part, at) ? part.length : undefined
    const code = segment.codePointAt(at)
    if (code === undefined) return undefined
    const listed = part.ranges.some(([first, last]) => first <= code && code <= last)
    return listed === part.negated ? undefined : unitsOf(code)
  })
}

/** The class that opens at `start`, with the place of its `]`; undefined when it is not closed. */
function readClass(source: string, start: number): { part: CharacterClass; end: number } | undefined {
  const negated = source[start + 1] === '!' || source[start + 1] === '^'
  const first = start + (negated ? 2 : 1)
  const ranges: [number, number][] = []
  let at = first
  const take = () => {
    if (source[at] === '\\') at += 1
    const code = source.codePointAt(at) ?? 0
    at += unitsOf(code)
    return code
  }
  while (at < source.length && (source[at] !== ']' || at === first)) {
    const low = take()
    const isRange = source[at] === '-' && at + 1 < source.length && source[at + 1] !== ']'
    if (isRange) at += 1
    ranges.push([low, isRange ? take() : low])
  }
  return at < source.length ? { part: { negated, ranges }, end: at } : undefined
}

function unitsOf(codePoint: number): number {
  return codePoint > 0xffff ? 2 : 1
}
