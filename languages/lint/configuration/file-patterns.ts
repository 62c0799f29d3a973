import { matchesSegment, parseSegmentGlob } from '#domain/path-globs.ts'
import { basename } from 'node:path/posix'

export type PathTest = (path: string) => boolean

/** Reads a pattern of flake8 as Python's fnmatch does: it matches the name, or the path if it has a slash. */
export function flake8PathTest(pattern: string, folder: string): PathTest {
  if (pattern !== '.' && !pattern.includes('/')) {
    const isMatch = fnmatchTest(pattern)
    return (path) => isMatch(basename(path))
  }
  const meant = resolvedPattern(pattern, folder)
  if (meant === undefined) return () => false
  const isMatch = fnmatchTest(meant.rest)
  return (path) => {
    const rest = restBelow(path, meant.folder)
    return rest !== undefined && isMatch(rest)
  }
}

/** Resolves `./`, `..` and a slash at the end; undefined for a pattern that leads out of the snapshot. */
export function resolvedPattern(pattern: string, folder: string): { folder: string; rest: string } | undefined {
  if (pattern.startsWith('/') || pattern.startsWith('~')) return undefined
  const above = folder === '' ? [] : folder.split('/')
  const rest: string[] = []
  for (const segment of pattern.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') rest.push(segment)
    else if (rest.pop() === undefined && above.pop() === undefined) return undefined
  }
  return { folder: above.join('/'), rest: rest.join('/') }
}

function restBelow(path: string, folder: string): string | undefined {
  if (folder === '') return path
  if (path === folder) return ''
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined
}

/** Reads a pattern as fnmatch does: a backslash is an ordinary character, and only `!` negates a class. */
function fnmatchTest(pattern: string): PathTest {
  const glob = parseSegmentGlob(pattern.replaceAll('\\', '\\\\').replaceAll('[^', '[\\^'))
  // Most texts do not contain the longest literal part of the pattern, which is much cheaper to test than a match.
  const literals = glob.parts.filter((part) => typeof part === 'string')
  const literal = literals.reduce((best, part) => (part.length > best.length ? part : best), '')
  return (text) => text.includes(literal) && matchesSegment(glob, text)
}
