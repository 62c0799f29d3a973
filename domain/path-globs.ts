import { AppError } from './error.ts'

/** Bounds the cost of a match: patterns come from outside, and every path of a tree is tested against them. */
const maxAlternatives = 200
const maxWildcards = 100
/** The most patterns with wildcards or braces. */
const maxCharacters = 2048
const maxBraces = 20

/** The patterns of a path's segments; a star stands for any number of them. */
export type PathGlob = readonly (SegmentGlob | typeof star)[]

/**
 * Returns a test for paths that match a pattern or lie in a folder that does. Patterns know `*`, `?`, `[a-z]`, `{a,b}` and, as a whole
 * segment, `**`; names that begin with a dot match like any other. INTAKE_008 for a fault that `faultOfGlobs` finds.
 */
export function pathGlobs(patterns: readonly string[]): (path: string) => boolean {
  const read = readGlobs(patterns)
  if ('fault' in read) throw new AppError('INTAKE_008', read.fault)
  return (path) => {
    const segments = path.split('/')
    return read.globs.some((glob) => matchesSegments(glob, segments))
  }
}

export function matchesSegments(glob: PathGlob, segments: readonly string[]): boolean {
  return starMatch<SegmentGlob>(glob, segments.length, (part, at) => {
    const segment = segments[at]
    return segment !== undefined && matchesSegment(part, segment) ? 1 : undefined
  })
}

/** Says in one sentence why the patterns are refused: unsupported syntax, or too many of them. */
export function faultOfGlobs(patterns: readonly string[]): string | undefined {
  const read = readGlobs(patterns)
  return 'fault' in read ? read.fault : undefined
}

function readGlobs(patterns: readonly string[]): { globs: PathGlob[] } | { fault: string } {
  const special = patterns.filter((pattern) => /[*?[{]/.test(pattern))
  if (special.join('').length > maxCharacters) return overLimit(maxCharacters, 'characters')
  const globs: PathGlob[] = []
  let wildcards = 0
  let characters = 0
  for (const pattern of patterns) {
    const unserved = unservedSyntax(pattern)
    if (unserved !== undefined) return { fault: `pattern ${JSON.stringify(pattern.slice(0, 100))}: ${unserved}` }
    for (const alternative of expandBraces(pattern)) {
      const glob = parseGlob(alternative)
      const own = glob.reduce((sum, part) => sum + (part === star ? 1 : part.wildcards), -1)
      globs.push(glob)
      wildcards += own
      characters += own === 0 ? 0 : alternative.length
      if (globs.length > maxAlternatives) return overLimit(maxAlternatives, 'patterns')
      if (wildcards > maxWildcards) return overLimit(maxWildcards, 'wildcards')
      if (characters > maxCharacters) return overLimit(maxCharacters, 'characters')
    }
  }
  return { globs }
}

function overLimit(most: number, what: string): { fault: string } {
  return { fault: `the patterns add up to more than ${most} ${what}, braces expanded` }
}

/** Syntax of other tools' globs is refused: read as text, such a pattern would silently match nothing. */
function unservedSyntax(pattern: string): string | undefined {
  if (pattern.length > maxCharacters) return `it is longer than ${maxCharacters} characters`
  if (hasManyBraces(pattern)) return `it has more than ${maxBraces} opening braces`
  if (pattern.startsWith('!')) return 'what it leaves out cannot be said with "!"; write \\! for a name'
  if (/(?<!\\)[@!+*?]\(/.test(pattern)) return 'groups such as +(a|b) are not served; write {a,b}, or \\( for a name'
  if (pattern.split(/[\\/]/).includes('..')) return 'it leads out of the repository'
  if (pattern.includes('\0')) return 'it has a NUL character'
  return undefined
}

/** Adds a star at the end, since a folder includes everything in it. A final `**` does so, too, but does not match the folder itself. */
function parseGlob(pattern: string): PathGlob {
  const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== '.')
  const ofFolder = segments.at(-1) === '**' ? [...segments, '*'] : segments
  return [...ofFolder.map((segment) => (segment === '**' ? star : parseSegmentGlob(segment))), star]
}

/** Expands `{a,b}` in order. Braces without a comma, unpaired ones, and those of a pattern over the limits are text. */
export function* expandBraces(pattern: string): Generator<string> {
  const group = hasManyBraces(pattern) ? undefined : firstGroup(pattern)
  if (group === undefined) {
    yield pattern
    return
  }
  const head = pattern.slice(0, group.start)
  const tail = pattern.slice(group.end + 1)
  for (const alternative of group.alternatives) {
    for (const rest of expandBraces(`${alternative}${tail}`)) yield `${head}${rest}`
  }
}

function hasManyBraces(pattern: string): boolean {
  return pattern.length > maxCharacters || pattern.split('{').length > maxBraces + 1
}

type Group = { start: number; end: number; alternatives: string[] }

function firstGroup(pattern: string): Group | undefined {
  for (let start = 0; start < pattern.length; start++) {
    if (pattern[start] === '\\') start++
    else if (pattern[start] === '{') {
      const group = groupAt(pattern, start)
      if (group !== undefined) return group
    }
  }
  return undefined
}

function groupAt(pattern: string, start: number): Group | undefined {
  const alternatives: string[] = []
  let depth = 1
  let from = start + 1
  for (let at = from; at < pattern.length; at++) {
    const character = pattern[at]
    if (character === '\\') at++
    else if (character === '{') depth++
    else if (character === '}') depth--
    if (depth > 1 || !(depth === 0 || character === ',')) continue
    alternatives.push(pattern.slice(from, at))
    from = at + 1
    if (depth === 0) return alternatives.length > 1 ? { start, end: at, alternatives } : undefined
  }
  return undefined
}

/** A part that covers any number of items, zero included. */
export const star = Symbol('star')

/** Is true when `parts` cover exactly `length` items. Only the last star is ever widened: the work is at most parts × length. */
function starMatch<T>(
  parts: readonly (T | typeof star)[],
  length: number,
  widthAt: (part: T, at: number) => number | undefined,
): boolean {
  let next = 0
  let at = 0
  let afterStar = -1 // the part behind the last star met; -1 before the first
  let starEnd = 0
  while (next < parts.length || at < length) {
    const part = parts[next]
    if (part === star) {
      next += 1
      afterStar = next
      starEnd = at
      continue
    }
    const width = part === undefined ? undefined : widthAt(part, at)
    if (width !== undefined) {
      next += 1
      at += width
    } else if (afterStar >= 0 && starEnd < length) {
      starEnd += 1
      next = afterStar
      at = starEnd
    } else return false
  }
  return true
}

/** Ranges of code points, ends included. */
type CharacterClass = { negated: boolean; ranges: readonly (readonly [first: number, last: number])[] }
type Part = string | CharacterClass

export type SegmentGlob = { parts: readonly (Part | typeof star)[]; wildcards: number }

const anyCharacter: CharacterClass = { negated: true, ranges: [] }

/** Reads `*`, `?`, `[abc]`, `[a-z]`, `[!a]`, `[[:alpha:]]`; a backslash escapes the next character. Nothing else is special. */
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
    const parsed = character === '[' ? readClass(source, at) : undefined
    if (parsed !== undefined) {
      add(parsed.part)
      at = parsed.end
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

type Ranges = CharacterClass['ranges']

/** POSIX's classes, of ASCII, as Git has them in every locale. */
const posixClasses: ReadonlyMap<string, Ranges> = new Map(
  Object.entries({
    alnum: '09AZaz',
    alpha: 'AZaz',
    blank: '\t\t  ',
    cntrl: '\0\x1f\x7f\x7f',
    digit: '09',
    graph: '!~',
    lower: 'az',
    print: ' ~',
    punct: '!/:@[`{~',
    space: '\t\r  ',
    upper: 'AZ',
    xdigit: '09AFaf',
  }).map(([name, ends]) => {
    const codes = Array.from(ends, (end) => end.charCodeAt(0))
    return [name, codes.flatMap((first, at) => (at % 2 === 0 ? [[first, codes[at + 1] ?? first] as const] : []))]
  }),
)

/** The POSIX class at `[:` and its end; of an unknown name, which Git lets nothing match, undefined ranges. */
function posixClassAt(source: string, at: number): { ranges: Ranges | undefined; end: number } | undefined {
  const close = source.startsWith('[:', at) ? source.indexOf(']', at + 2) : -1
  if (close < at + 3 || source[close - 1] !== ':') return undefined
  return { ranges: posixClasses.get(source.slice(at + 2, close - 1)), end: close + 1 }
}

/** Returns the class that opens at `start`; undefined when it is not closed. */
function readClass(source: string, start: number): { part: CharacterClass; end: number } | undefined {
  const negated = source[start + 1] === '!' || source[start + 1] === '^'
  const first = start + (negated ? 2 : 1)
  const ranges: (readonly [number, number])[] = []
  let isKnown = true
  let at = first
  const take = () => {
    if (source[at] === '\\') at += 1
    const code = source.codePointAt(at) ?? 0
    at += unitsOf(code)
    return code
  }
  while (at < source.length && (source[at] !== ']' || at === first)) {
    const posix = posixClassAt(source, at)
    if (posix !== undefined) {
      ranges.push(...(posix.ranges ?? []))
      isKnown &&= posix.ranges !== undefined
      at = posix.end
      continue
    }
    const low = take()
    const isRange = source[at] === '-' && at + 1 < source.length && source[at + 1] !== ']'
    if (isRange) at += 1
    ranges.push([low, isRange ? take() : low])
  }
  const part = isKnown ? { negated, ranges } : { negated: false, ranges: [] }
  return at < source.length ? { part, end: at } : undefined
}

function unitsOf(codePoint: number): number {
  return codePoint > 0xffff ? 2 : 1
}
