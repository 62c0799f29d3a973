import { basename } from 'node:path/posix'
import type { SkipKind } from '#domain/skip-kind.ts'
import { isVendoredName, vendoredFolder } from '#domain/vendored-path.ts'
import type { Attributes } from './attribute-rules.ts'
import type { TreeRules } from './tree-rules.ts'
import type { ContentMark } from './unwanted-content.ts'
import { isRefusedByGit, kindOfFile, kindOfFolder } from './unwanted-names.ts'

/** Said of names with a leading dot: nobody expects to find them worked on. */
export const hiddenReason = 'hidden'

export type UnwantedPath = { path: string; reason: string }

export type PathJudge = {
  /** The outermost folder, or the file itself, that discovery passes over, and why. */
  unwanted(path: string): UnwantedPath | undefined
  /** The marks with which the content at a wanted path is read all the same. Paths that are alike share one list. */
  admitted(path: string): readonly ContentMark[]
}

/** The paths of a tree, what git's files in it say, and the kinds that are wanted all the same. */
export type JudgedTree = { paths: Iterable<string>; rules: TreeRules; include: ReadonlySet<SkipKind> }

type Verdict = { path: string; reason: string; kind?: SkipKind }
type FolderJudge = (folder: string) => Verdict | undefined

const reasons: Readonly<Record<SkipKind, string>> = {
  vendored: 'vendored',
  generated: 'generated',
  submodules: 'submodule',
  migrations: 'migration',
  snapshots: 'snapshot of tests',
  ignored: 'ignored by .gitignore',
}

/** The kinds that an attribute speaks of, by which `-linguist-vendored` calls a file the project's own. */
const attributeOf = { vendored: 'linguist-vendored', generated: 'linguist-generated' } as const
const attributed = ['vendored', 'generated'] as const

/**
 * Judges the paths of one tree by their names and by its .gitattributes, .gitignore and .gitmodules files. A folder is
 * judged once. Where an attribute opens part of a folder, its other files are named one by one.
 */
export function pathJudge({ paths, rules, include }: JudgedTree): PathJudge {
  const { attributes } = rules
  const openable = attributed.filter((kind) => attributes.everSets(attributeOf[kind], isFalse))
  const marked = markedFolders(paths)
  const folderJudges = new Map<string, { wanted: ReadonlySet<SkipKind>; judge: FolderJudge }>()
  const judgeFor = (open: readonly SkipKind[]) => {
    const key = open.join()
    const known = folderJudges.get(key)
    if (known !== undefined) return known
    const wanted = new Set([...include, ...open])
    const made = { wanted, judge: folderJudge({ marked, rules, include: wanted }) }
    folderJudges.set(key, made)
    return made
  }
  const admittedLists = new Map<string, readonly ContentMark[]>()
  return {
    unwanted(path) {
      const said = attributes.attributesOf(path)
      const { wanted, judge } = judgeFor(openable.filter((kind) => said.get(attributeOf[kind]) === false))
      const folder = judge(folderOf(path))
      if (folder === undefined) return judgeFile(path, { said, rules, include: wanted })
      return openable.some((kind) => kind === folder.kind) ? { ...folder, path } : folder
    },
    admitted(path) {
      const list = admittedMarks(attributes.attributesOf(path), include)
      const known = admittedLists.get(list.join()) ?? list
      admittedLists.set(list.join(), known)
      return known
    },
  }
}

const isFalse = (value: unknown) => value === false

function admittedMarks(said: Attributes, include: ReadonlySet<SkipKind>): ContentMark[] {
  const marks: ContentMark[] = []
  if (include.has('generated') || said.get(attributeOf.generated) === false) marks.push('generated')
  if (include.has('migrations')) marks.push('migrations')
  if (said.get('ident') !== true) marks.push('ident')
  return marks
}

/** Folders that a file in them proves to be vendored. */
function markedFolders(paths: Iterable<string>): ReadonlySet<string> {
  const marked = new Set<string>()
  for (const path of paths) {
    const folder = vendoredFolder(path)
    if (folder !== undefined) marked.add(folder)
  }
  return marked
}

type FolderRules = { marked: ReadonlySet<string>; rules: TreeRules; include: ReadonlySet<SkipKind> }

function folderJudge(tree: FolderRules): FolderJudge {
  const known = new Map<string, Verdict | undefined>([['', undefined]])
  const judge = (folder: string): Verdict | undefined => {
    if (known.has(folder)) return known.get(folder)
    const verdict = judge(folderOf(folder)) ?? judgeFolder(folder, tree)
    known.set(folder, verdict)
    return verdict
  }
  return judge
}

/** A folder by itself, none of those above it being unwanted. */
function judgeFolder(path: string, { marked, rules, include }: FolderRules): Verdict | undefined {
  const name = basename(path)
  const unchangeable = unchangeableName(name)
  if (unchangeable !== undefined) return { path, reason: unchangeable }
  const kinds: (SkipKind | undefined)[] = [
    isVendoredName(name) || marked.has(path) ? 'vendored' : kindOfFolder(name),
    rules.isSubmodule(path) ? 'submodules' : undefined,
  ]
  const kind = kinds.find((one) => one !== undefined && !include.has(one))
  if (kind !== undefined) return { path, reason: reasons[kind], kind }
  return isIgnored(path, { rules, include, isFolder: true }) ? { path, reason: reasons.ignored } : undefined
}

type FileRules = { said: Attributes; rules: TreeRules; include: ReadonlySet<SkipKind> }

/** A file by itself, none of its folders being unwanted. */
function judgeFile(path: string, { said, rules, include }: FileRules): UnwantedPath | undefined {
  const name = basename(path)
  const reason = unchangeableName(name) ?? refusedAttribute(said)
  if (reason !== undefined) return { path, reason }
  for (const kind of attributed) {
    if (said.get(attributeOf[kind]) === true && !include.has(kind)) {
      return { path, reason: `${reasons[kind]}: .gitattributes says so` }
    }
  }
  const kind = kindOfFile(path)
  if (kind !== undefined && !include.has(kind)) return { path, reason: reasons[kind] }
  return isIgnored(path, { rules, include, isFolder: false }) ? { path, reason: reasons.ignored } : undefined
}

function isIgnored(
  path: string,
  { rules, include, isFolder }: { rules: TreeRules; include: ReadonlySet<SkipKind>; isFolder: boolean },
): boolean {
  return !include.has('ignored') && rules.isIgnored(path, isFolder)
}

function unchangeableName(name: string): string | undefined {
  if (name.startsWith('.')) return hiddenReason
  return isRefusedByGit(name) ? 'git applies no patch to a file of this name' : undefined
}

/** Why git would not apply a patch of the text that is there, or not show it. */
function refusedAttribute(said: Attributes): string | undefined {
  const filter = said.get('filter')
  if (typeof filter === 'string') return `changed by the filter ${filter} of .gitattributes`
  const encoding = said.get('working-tree-encoding')
  if (typeof encoding === 'string' && !/^utf-?8$/i.test(encoding))
    return `stored as ${encoding}: .gitattributes says so`
  return said.get('diff') === false ? 'binary: .gitattributes says so' : undefined
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
