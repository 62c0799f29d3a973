import { expandBraces } from '#domain/expand-braces.ts'
import { matchesSegment, parseSegmentGlob, type SegmentGlob } from '#domain/segment-glob.ts'
import { nameOf } from './config-tree.ts'

/** Whether a path of the snapshot is meant. */
export type PathTest = (path: string) => boolean

/** More than any real configuration needs; a pattern that stands for more matches nothing. */
const maxAlternatives = 256

/**
 * A pattern of Ruff's configuration, in the dialect of Rust's globset as Ruff uses it: `*` and `?` take slashes, too, and
 * a whole segment `**` is any number of folders. It is relative to the folder of its configuration.
 */
type RuffPattern = {
  /** Against the whole path. */
  absolute: PathTest
  /** Against the name alone, wherever the file lies. */
  basename: PathTest
  /** As it stands, against the whole path: `*.py` means every such file, `setup.py` none. */
  asItStands: PathTest
  /** It names no folder, so it counts for names, too. */
  isName: boolean
}

function ruffPattern(pattern: string, folder: string): RuffPattern {
  const named = globsOf(pattern)
  const place = placeOf(pattern, folder)
  const globs = place === undefined ? [] : globsOf(place.rest)
  return {
    absolute: (path) => {
      const rest = place === undefined ? undefined : restBelow(path, place.folder)
      return rest !== undefined && globs.some((glob) => matchesSegment(glob, rest))
    },
    basename: (path) => named.some((glob) => matchesSegment(glob, nameOf(path))),
    asItStands: (path) => named.some((glob) => matchesSegment(glob, `/${path}`)),
    isName: !pattern.includes('/'),
  }
}

/** A pattern of `exclude` and its kin: for the path, and for the name if the pattern is one. */
export function ruffExcludeTest(pattern: string, folder: string): PathTest {
  const { absolute, basename, asItStands, isName } = ruffPattern(pattern, folder)
  return isName ? (path) => basename(path) || absolute(path) || asItStands(path) : absolute
}

/** A pattern of `include`, which Ruff never holds against a name alone. */
export function ruffIncludeTest(pattern: string, folder: string): PathTest {
  const { absolute, asItStands, isName } = ruffPattern(pattern, folder)
  return isName ? (path) => absolute(path) || asItStands(path) : absolute
}

/** A pattern of `per-file-ignores` and its kin; a `!` before it turns it round. */
export function ruffPerFileTest(pattern: string, folder: string): PathTest {
  const { absolute, basename } = ruffPattern(pattern.replace(/^!/, ''), folder)
  const isMeant: PathTest = (path) => basename(path) || absolute(path)
  return pattern.startsWith('!') ? (path) => !isMeant(path) : isMeant
}

/** A pattern of flake8, as Python's fnmatch reads it: for the name, or for the path if it has a slash. */
export function flake8PathTest(pattern: string, folder: string): PathTest {
  if (pattern !== '.' && !pattern.includes('/')) {
    const glob = fnmatchGlob(pattern)
    return (path) => matchesSegment(glob, nameOf(path))
  }
  const place = placeOf(pattern, folder)
  if (place === undefined) return () => false
  const glob = fnmatchGlob(place.rest)
  return (path) => {
    const rest = restBelow(path, place.folder)
    return rest !== undefined && matchesSegment(glob, rest)
  }
}

/** Where a pattern points to: `./`, `..` and a slash at the end are resolved. Undefined outside the snapshot. */
function placeOf(pattern: string, folder: string): { folder: string; rest: string } | undefined {
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

function globsOf(pattern: string): SegmentGlob[] {
  const globs: SegmentGlob[] = []
  for (const plain of expandBraces(pattern)) {
    for (const alternative of expandFolders(plain)) {
      if (globs.length === maxAlternatives) return []
      globs.push(parseSegmentGlob(alternative))
    }
  }
  return globs
}

/** `*` takes slashes, so `**` as a segment needs care only for "no folder at all". */
function* expandFolders(pattern: string): Generator<string> {
  const match = /(?<=^|\/)\*\*\//.exec(pattern)
  if (match === null) {
    yield pattern
    return
  }
  const head = pattern.slice(0, match.index)
  for (const tail of expandFolders(pattern.slice(match.index + match[0].length))) {
    yield `${head}${tail}`
    yield `${head}*/${tail}`
  }
}

/** In fnmatch a backslash is a character like any other, and only `!` turns a class round. */
function fnmatchGlob(pattern: string): SegmentGlob {
  return parseSegmentGlob(pattern.replaceAll('\\', '\\\\').replaceAll('[^', '[\\^'))
}
