import { AppError } from '#domain/error.ts'
import { expandBraces } from '#domain/expand-braces.ts'
import { matchesSegment, parseSegmentGlob, type SegmentGlob } from '#domain/segment-glob.ts'
import { star, starMatch } from '#domain/star-match.ts'

/** Bounds what a match can cost: patterns come from outside, and every path of a tree is held against them. */
const maxAlternatives = 200
const maxWildcards = 100
/** Of patterns with wildcards or braces. */
const maxCharacters = 2048
const maxBraces = 20

type PathGlob = readonly (SegmentGlob | typeof star)[]

/**
 * Whether a path inside a repository matches one of the patterns or lies in a folder that does. Patterns know `*`, `?`,
 * `[a-z]`, `{a,b}` and, as a whole segment, `**`; names that begin with a dot are like any other. INTAKE_008 for what
 * `faultOfGlobs` names.
 */
export function pathGlobs(patterns: readonly string[]): (path: string) => boolean {
  const read = readGlobs(patterns)
  if ('fault' in read) throw new AppError('INTAKE_008', read.fault)
  return (path) => {
    const segments = path.split('/')
    return read.globs.some((glob) =>
      starMatch<SegmentGlob>(glob, segments.length, (part, at) => {
        const segment = segments[at]
        return segment !== undefined && matchesSegment(part, segment) ? 1 : undefined
      }),
    )
  }
}

/** Why the patterns are not taken, in one sentence: what they ask for is not served, or they are too many. */
export function faultOfGlobs(patterns: readonly string[]): string | undefined {
  const read = readGlobs(patterns)
  return 'fault' in read ? read.fault : undefined
}

function readGlobs(patterns: readonly string[]): { globs: PathGlob[] } | { fault: string } {
  const special = patterns.filter((pattern) => /[*?[{]/.test(pattern))
  if (lengthOf(special) > maxCharacters) return overLimit(maxCharacters, 'characters')
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

function lengthOf(patterns: readonly string[]): number {
  return patterns.reduce((sum, pattern) => sum + pattern.length, 0)
}

function overLimit(most: number, what: string): { fault: string } {
  return { fault: `the patterns come to more than ${most} ${what}, braces expanded` }
}

/** What other tools' globs mean by it, silently read as text, would be a pattern that matches nothing. */
function unservedSyntax(pattern: string): string | undefined {
  if (pattern.length > maxCharacters) return `it is longer than ${maxCharacters} characters`
  if (pattern.split('{').length > maxBraces + 1) return `it has more than ${maxBraces} opening braces`
  if (pattern.startsWith('!')) return 'what it leaves out cannot be said with "!"; write \\! for a name'
  if (/(?<!\\)[@!+*?]\(/.test(pattern)) return 'groups such as +(a|b) are not served; write {a,b}, or \\( for a name'
  if (pattern.split('/').includes('..')) return 'it leads out of the repository'
  return undefined
}

/** Ends with a star: a folder stands for all it holds. A last `**` is that too, but not the folder's own name. */
function parseGlob(pattern: string): PathGlob {
  const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== '.')
  const ofFolder = segments.at(-1) === '**' ? [...segments, '*'] : segments
  return [...ofFolder.map((segment) => (segment === '**' ? star : parseSegmentGlob(segment))), star]
}
