import {
  matchesSegment,
  matchesSegments,
  parseSegmentGlob,
  type PathGlob,
  type SegmentGlob,
  star,
} from '#domain/path-globs.ts'

/** Matches the segments below the pattern's folder, in work of one comparison for each character of the pattern and of the path. */
export type GitPattern = (segments: readonly string[]) => boolean

/** Reads a pattern of .gitignore or .gitattributes, without a slash at its end: of a name at any level, or of a path where it has a slash. */
export function gitPattern(source: string): GitPattern {
  if (!source.includes('/')) {
    const matchesName = nameMatcher(parseSegmentGlob(source))
    return (segments) => matchesName(segments.at(-1) ?? '')
  }
  const segments = source.split('/').filter((segment) => segment !== '')
  // What ends in `/**` matches everything inside a folder, not the folder's own name.
  const all = segments.at(-1) === '**' ? [...segments, '*'] : segments
  const glob: PathGlob = all.map((segment) => (segment === '**' ? star : parseSegmentGlob(segment)))
  return (path) => matchesSegments(glob, path)
}

/** Most patterns are `*.py` or plain names, and every file is tested against them. */
function nameMatcher(glob: SegmentGlob): (name: string) => boolean {
  const [first, second, ...more] = glob.parts
  if (typeof first === 'string' && second === undefined) return (name) => name === first
  if (first === star && typeof second === 'string' && more.length === 0) return (name) => name.endsWith(second)
  return (name) => matchesSegment(glob, name)
}
