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
  /** One of these is part of `/folder/` of every path it means. */
  folders: readonly string[]
}

function ruffPattern(pattern: string, folder: string): RuffPattern {
  const asIs = globsOf(pattern)
  const ofNames = asIs.filter(({ literal }) => !literal.includes('/'))
  const place = placeOf(pattern, folder)
  const globs = place === undefined ? [] : globsOf(place.rest)
  return {
    absolute: (path) => {
      const rest = place === undefined ? undefined : restBelow(path, place.folder)
      return rest !== undefined && globs.some(({ isMatch }) => isMatch(rest))
    },
    basename: (path) => ofNames.some(({ isMatch }) => isMatch(nameOf(path))),
    asItStands: (path) => asIs.some(({ isMatch }) => isMatch(`/${path}`)),
    isName: !pattern.includes('/'),
    folders: [...globs, ...ofNames].map(({ folder: literal }) => literal),
  }
}

/** A pattern of `exclude`, `extend-exclude` and the like: for the path, and for the name if the pattern is one. */
export function ruffExcludeTest(pattern: string, folder: string): PathTest {
  const { absolute, basename, asItStands, isName } = ruffPattern(pattern, folder)
  return isName ? (path) => basename(path) || absolute(path) || asItStands(path) : absolute
}

/** A pattern of `include`, which Ruff never holds against a name alone. */
export function ruffIncludeTest(pattern: string, folder: string): PathTest {
  const { absolute, asItStands, isName } = ruffPattern(pattern, folder)
  return isName ? (path) => absolute(path) || asItStands(path) : absolute
}

/** A pattern for some files, with a cheap answer for a whole folder: false where it can mean none of its files. */
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

/** A pattern of flake8, as Python's fnmatch reads it: for the name, or for the path if it has a slash. */
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
function fnmatchTest(pattern: string): PathTest {
  return globOf(parseSegmentGlob(pattern.replaceAll('\\', '\\\\').replaceAll('[^', '[\\^'))).isMatch
}

type Glob = {
  literal: string
  /** The longest literal part that ends with a slash, in which the folder of what it matches must agree. */
  folder: string
  isMatch(text: string): boolean
}

/** Most texts are ruled out by the longest literal part of the pattern, which costs far less than a match. */
function globOf(glob: SegmentGlob): Glob {
  const literals = glob.parts.filter((part) => typeof part === 'string')
  const literal = longest(literals)
  const folder = longest(literals.map((part) => part.slice(0, part.lastIndexOf('/') + 1)))
  return { literal, folder, isMatch: (text) => text.includes(literal) && matchesSegment(glob, text) }
}

function longest(texts: readonly string[]): string {
  return texts.reduce((best, text) => (text.length > best.length ? text : best), '')
}
