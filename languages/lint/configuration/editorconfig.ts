import { basename } from 'node:path/posix'
import { expandBraces, matchesSegments, parseSegmentGlob, type PathGlob, star } from '#domain/path-globs.ts'
import { folderOf } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type ConfigTree, within } from './config-tree.ts'

/** Reads the settings of a file in `folder` from the `.editorconfig` files above it, in lower case, if there are any. */
export type EditorConfig = (folder: string) => ((path: string) => ReadonlyMap<string, string>) | undefined

/** Limits one file, since each path is tested against all of it: a longer one, and what comes after so many patterns, has no effect. */
const [maxCharacters, maxGlobs] = [64 * 1024, 1_000]
/** The specification allows no longer name of a section: each of its alternatives may be as long. */
const maxName = 4_096

type Section = { isMeant(path: string): boolean; pairs: readonly (readonly [string, string])[] }
type File = { isRoot: boolean; sections: Section[] }

/**
 * Follows the EditorConfig specification 0.17. The npm package `editorconfig` accepts texts only by a deprecated call,
 * resolves names against the working directory, and matches by regular expressions that a hostile pattern can make very
 * slow; matching `*` here needs no backtracking.
 */
export function readEditorConfig(tree: ConfigTree): EditorConfig {
  const files = new Map(
    tree.paths
      .filter((path) => basename(path) === '.editorconfig')
      .map((path) => [folderOf(path), fileOf(tree.text(path) ?? '', folderOf(path))]),
  )
  // The nearest first; below a root nothing above counts.
  const known = new Map<string, Section[]>()
  const sectionsIn = (folder: string): Section[] =>
    getOrMake(known, folder, () => {
      const own = files.get(folder)
      const above = folder === '' || own?.isRoot === true ? [] : sectionsIn(folderOf(folder))
      return [...above, ...(own?.sections ?? [])]
    })
  return (folder) => {
    const sections = sectionsIn(folder)
    if (sections.length === 0) return undefined
    return (path) => new Map(sections.filter(({ isMeant }) => isMeant(path)).flatMap(({ pairs }) => pairs))
  }
}

function fileOf(text: string, folder: string): File {
  const file: File = { isRoot: false, sections: [] }
  let pairs: [string, string][] | undefined
  let left = maxGlobs
  if (text.length > maxCharacters) return file
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) {
    const content = line.trim()
    if (content === '' || /^[#;]/.test(content)) continue
    const pattern = /^\[(?<pattern>.+)\]/.exec(content)?.groups?.['pattern']
    const isLong = pattern !== undefined && pattern.length > maxName
    const [key, value] = content.split(/=(.*)/s).map((part) => part.trim().toLowerCase())
    if (pattern !== undefined) {
      pairs = []
      const globs = isLong ? [] : globsOf(pattern, Math.min(left, maxAlternatives))
      left -= globs.length
      file.sections.push({ isMeant: pathTest(globs, folder), pairs })
    } else if (key === undefined || value === undefined) continue
    else if (pairs !== undefined) pairs.push([key, value])
    else if (key === 'root') file.isRoot = value === 'true'
  }
  return file
}

/** A pattern with more alternatives matches nothing. */
const maxAlternatives = 256

/** A pattern without a slash matches names at any depth; `**` matches slashes, `*` does not. None where there are more than `most`. */
function globsOf(pattern: string, most: number): PathGlob[] {
  const anchored = pattern.includes('/') ? pattern.replace(/^\//, '') : `**/${pattern}`
  const globs: PathGlob[] = []
  for (const plain of expandBraces(withoutRanges(anchored))) {
    for (const alternative of segmentGlobs(plain.split('/'))) {
      if (globs.length === most) return []
      globs.push(alternative)
    }
  }
  return globs
}

function pathTest(globs: readonly PathGlob[], folder: string): (path: string) => boolean {
  const prefix = within(folder, '')
  return (path) => {
    if (!path.startsWith(prefix)) return false
    const segments = path.slice(prefix.length).split('/')
    return globs.some((glob) => matchesSegments(glob, segments))
  }
}

/** Makes `{1,2,3}` of `{1..3}`; a range of more than a hundred numbers stays text. */
function withoutRanges(pattern: string): string {
  return pattern.replace(/\{(-?\d{1,6})\.\.(-?\d{1,6})\}/g, (whole, first: string, last: string) => {
    const [low, high] = [Number(first), Number(last)].toSorted((a, b) => a - b)
    if (low === undefined || high === undefined || high - low > 100) return whole
    return `{${Array.from({ length: high - low + 1 }, (_, index) => low + index).join(',')}}`
  })
}

/** Within a segment, `a**b` is `a*b` or `a*`, any folders, `*b`. */
function* segmentGlobs([segment, ...rest]: readonly string[]): Generator<PathGlob> {
  if (segment === undefined) {
    yield []
    return
  }
  const inner = segment.indexOf('**')
  for (const tail of segmentGlobs(rest)) {
    if (segment === '**') yield [star, ...tail]
    else yield [parseSegmentGlob(segment), ...tail]
    if (segment === '**' || inner < 0) continue
    const [head, end] = [segment.slice(0, inner + 1), segment.slice(inner + 1)]
    yield [parseSegmentGlob(head), star, parseSegmentGlob(end), ...tail]
  }
}
