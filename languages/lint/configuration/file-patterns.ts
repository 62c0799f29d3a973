import { expandBraces, matchesSegment, parseSegmentGlob, type SegmentGlob } from '#domain/path-globs.ts'
import { nameOf } from './config-tree.ts'

export type PathTest = (path: string) => boolean

/** More than any real configuration needs; a pattern with more alternatives matches nothing. */
const maxAlternatives = 256

/**
 * A pattern of Ruff's configuration, relative to the configuration's folder, in the dialect of Rust's globset as Ruff
 * uses it: `*` and `?` also match slashes, and a whole segment `**` any number of folders.
 */
function ruffPattern(pattern: string, folder: string) {
  const asIs = globsOf(pattern)
  const ofNames = asIs.filter(({ literal }) => !literal.includes('/'))
  const place = placeOf(pattern, folder)
  const globs = place === undefined ? [] : globsOf(place.rest)
  return {
    /** Matches the whole path. */
    absolute: (path: string) => {
      const rest = place === undefined ? undefined : restBelow(path, place.folder)
      return rest !== undefined && globs.some(({ isMatch }) => isMatch(rest))
    },
    /** Matches the name alone, in any folder. */
    basename: (path: string) => ofNames.some(({ isMatch }) => isMatch(nameOf(path))),
    /** Matches the whole path without regard to the configuration's folder: `*.py` every such file, `setup.py` none. */
    asWritten: (path: string) => asIs.some(({ isMatch }) => isMatch(`/${path}`)),
    /** It names no folder, so it also applies to names. */
    isName: !pattern.includes('/'),
    /** Every path that it matches contains one of these in its `/folder/`. */
    folders: [...globs, ...ofNames].map(({ folder: literal }) => literal),
  }
}

/** A pattern of `exclude` and similar options: it matches the path, or the name if it names no folder. */
export function ruffExcludeTest(pattern: string, folder: string): PathTest {
  const { absolute, basename, asWritten, isName } = ruffPattern(pattern, folder)
  return isName ? (path) => basename(path) || absolute(path) || asWritten(path) : absolute
}

/** A pattern of `include`, which Ruff never matches against the name alone. */
export function ruffIncludeTest(pattern: string, folder: string): PathTest {
  const { absolute, asWritten, isName } = ruffPattern(pattern, folder)
  return isName ? (path) => absolute(path) || asWritten(path) : absolute
}

/** `mayMatchIn` is a cheap test for a whole folder: false when none of its files can match. */
export type PerFileTest = { isMeant: PathTest; mayMatchIn(folder: string): boolean }

/** A pattern of `per-file-ignores` and the like; a `!` before it negates it. */
export function ruffPerFileTest(pattern: string, folder: string): PerFileTest {
  const isNegated = pattern.startsWith('!')
  const { absolute, basename, folders } = ruffPattern(isNegated ? pattern.slice(1) : pattern, folder)
  const matches: PathTest = (path) => basename(path) || absolute(path)
  return {
    isMeant: isNegated ? (path) => !matches(path) : matches,
    mayMatchIn: (one) => isNegated || folders.some((literal) => `/${one}/`.includes(literal)),
  }
}

/** A pattern of flake8, read as Python's fnmatch does: it matches the name, or the path if it has a slash. */
export function flake8PathTest(pattern: string, folder: string): PathTest {
  if (pattern !== '.' && !pattern.includes('/')) {
    const isMatch = fnmatchTest(pattern)
    return (path) => isMatch(nameOf(path))
  }
  const place = placeOf(pattern, folder)
  if (place === undefined) return () => false
  const isMatch = fnmatchTest(place.rest)
  return (path) => {
    const rest = restBelow(path, place.folder)
    return rest !== undefined && isMatch(rest)
  }
}

/** Resolves `./`, `..` and a slash at the end; undefined for a pattern that leads out of the snapshot. */
export function placeOf(pattern: string, folder: string): { folder: string; rest: string } | undefined {
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

function globsOf(pattern: string): Glob[] {
  const globs: Glob[] = []
  for (const plain of expandBraces(pattern)) {
    for (const alternative of expandFolders(plain)) {
      if (globs.length === maxAlternatives) return []
      globs.push(globOf(parseSegmentGlob(alternative)))
    }
  }
  return globs
}

/** `*` matches slashes, so a segment `**` only needs the additional case "no folder". */
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

/** Reads a pattern as fnmatch does: a backslash is an ordinary character, and only `!` negates a class. */
function fnmatchTest(pattern: string): PathTest {
  return globOf(parseSegmentGlob(pattern.replaceAll('\\', '\\\\').replaceAll('[^', '[\\^'))).isMatch
}

type Glob = {
  literal: string
  /** The longest literal part that ends with a slash: every matched path contains it. */
  folder: string
  isMatch(text: string): boolean
}

/** Most texts do not contain the longest literal part of the pattern, which is much cheaper to test than a match. */
function globOf(glob: SegmentGlob): Glob {
  const literals = glob.parts.filter((part) => typeof part === 'string')
  const literal = longest(literals)
  const folder = longest(literals.map((part) => part.slice(0, part.lastIndexOf('/') + 1)))
  return { literal, folder, isMatch: (text) => text.includes(literal) && matchesSegment(glob, text) }
}

function longest(texts: readonly string[]): string {
  return texts.reduce((best, text) => (text.length > best.length ? text : best), '')
}
