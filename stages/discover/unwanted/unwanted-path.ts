import { basename } from 'node:path/posix'
import type { SkipKind } from '#domain/run.ts'
import { folderOf, isGitFolder } from '#domain/repo-path.ts'
import { isVendoredName, vendoredFolder } from '#domain/foreign-paths.ts'
import { isSecretByName, secretReason } from '#domain/path-purpose.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { Attributes } from './attribute-rules.ts'
import type { TreeRules } from './tree-rules.ts'
import type { ContentMark } from './unwanted-content.ts'

/** This reason is for names with a leading dot, which are not expected to be worked on. */
export const hiddenReason = 'hidden'

type UnwantedPath = { path: string; reason: string }

export type PathJudge = {
  /** The outermost folder, or the file itself, that discovery skips, and why. */
  unwanted(path: string): UnwantedPath | undefined
  /** The marks with which the content at a wanted path is read nevertheless. Similar paths share one list. */
  admitted(path: string): readonly ContentMark[]
}

/** Holds the paths of a tree, the rules of git's files in it, the kinds that are included, and whether git has packed it. */
type JudgedTree = Rules & { paths: readonly string[]; isPacked?: boolean | undefined }

type Verdict = { path: string; reason: string; kind?: SkipKind }
type FolderJudge = (folder: string) => Verdict | undefined

const reasons: Readonly<Record<SkipKind, string>> = {
  vendored: 'vendored',
  generated: 'generated',
  submodules: 'submodule',
  migrations: 'migration',
  snapshots: 'snapshot of tests',
  ignored: 'ignored by .gitignore',
  secrets: secretReason,
}

/** Maps the kinds that have an attribute: `-linguist-vendored` marks a file as the project's own. */
const attributeOf = { vendored: 'linguist-vendored', generated: 'linguist-generated' } as const
const attributed = ['vendored', 'generated'] as const

/**
 * Judges the paths of one tree by their names and by its .gitattributes, .gitignore and .gitmodules files. A folder is
 * judged once. If an attribute includes part of a folder, the other files of the folder are listed one by one.
 */
export function pathJudge({ paths, rules, include, isPacked = false }: JudgedTree): PathJudge {
  const { attributes } = rules
  const openable = attributed.filter((kind) => attributes.everSets(attributeOf[kind], isFalse))
  /** Folders that a file in them proves to be vendored. */
  const marked = new Set(paths.flatMap((path) => vendoredFolder(path) ?? []))
  const folderJudges = new Map<string, { wanted: ReadonlySet<SkipKind>; judge: FolderJudge }>()
  const judgeFor = (open: readonly SkipKind[]) => {
    return getOrMake(folderJudges, open.join(), () => {
      const wanted = new Set([...include, ...open])
      return { wanted, judge: folderJudge({ marked, rules, include: wanted }) }
    })
  }
  const admittedLists = new Map<string, readonly ContentMark[]>()
  return {
    unwanted(path) {
      const given = attributes.attributesOf(path)
      const { wanted, judge } = judgeFor(openable.filter((kind) => given.get(attributeOf[kind]) === false))
      const folder = judge(folderOf(path))
      if (folder === undefined) return judgeFile(path, { given, rules, include: wanted, isPacked })
      return openable.some((kind) => kind === folder.kind) ? { ...folder, path } : folder
    },
    admitted(path) {
      const list = admittedMarks(attributes.attributesOf(path), include)
      return getOrMake(admittedLists, list.join(), () => list)
    },
  }
}

const isFalse = (value: unknown) => value === false

function admittedMarks(given: Attributes, include: ReadonlySet<SkipKind>): ContentMark[] {
  const marks: ContentMark[] = []
  if (include.has('generated') || given.get(attributeOf.generated) === false) marks.push('generated')
  if (include.has('migrations')) marks.push('migrations')
  if (given.get('ident') !== true) marks.push('ident')
  return marks
}

type Rules = { rules: TreeRules; include: ReadonlySet<SkipKind> }
type FolderRules = Rules & { marked: ReadonlySet<string> }

function folderJudge(tree: FolderRules): FolderJudge {
  const known = new Map<string, Verdict | undefined>([['', undefined]])
  return function judge(folder: string): Verdict | undefined {
    if (!known.has(folder)) known.set(folder, judge(folderOf(folder)) ?? judgeFolder(folder, tree))
    return known.get(folder)
  }
}

function judgeFolder(path: string, { marked, rules, include }: FolderRules): Verdict | undefined {
  const name = basename(path)
  const unchangeable = unchangeableName(name)
  if (unchangeable !== undefined) return { path, reason: unchangeable }
  const kinds: (SkipKind | undefined)[] = [
    isVendoredName(name) || marked.has(path) ? 'vendored' : kindOfFolder(name),
    rules.isSubmodule(path) ? 'submodules' : undefined,
  ]
  const kind = kinds.find((candidate) => candidate !== undefined && !include.has(candidate))
  if (kind !== undefined) return { path, reason: reasons[kind], kind }
  return isIgnored(path, { rules, include, isFolder: true }) ? { path, reason: reasons.ignored } : undefined
}

type FileRules = Rules & { given: Attributes; isPacked: boolean }

function judgeFile(path: string, { given, rules, include, isPacked }: FileRules): UnwantedPath | undefined {
  const name = basename(path)
  const reason = unchangeableName(name) ?? refusedAttribute(given) ?? (isPacked ? filledIn(given) : undefined)
  if (reason !== undefined) return { path, reason }
  for (const kind of attributed) {
    if (given.get(attributeOf[kind]) === true && !include.has(kind)) {
      return { path, reason: `${reasons[kind]}: .gitattributes says so` }
    }
  }
  const kind = kindOfFile(path)
  if (kind !== undefined && !include.has(kind)) return { path, reason: reasons[kind] }
  return isIgnored(path, { rules, include, isFolder: false }) ? { path, reason: reasons.ignored } : undefined
}

function isIgnored(path: string, { rules, include, isFolder }: Rules & { isFolder: boolean }): boolean {
  return !include.has('ignored') && rules.isIgnored(path, isFolder)
}

/** Git applies no patch to a path with a segment that is its own folder on some system. */
function unchangeableName(name: string): string | undefined {
  if (name.startsWith('.')) return hiddenReason
  return isGitFolder(name) ? 'git applies no patch to a file of this name' : undefined
}

function refusedAttribute(given: Attributes): string | undefined {
  const filter = given.get('filter')
  if (typeof filter === 'string') return `changed by the filter ${filter} of .gitattributes`
  const encoding = given.get('working-tree-encoding')
  if (typeof encoding === 'string' && !/^utf-?8$/i.test(encoding))
    return `stored as ${encoding}: .gitattributes says so`
  return given.get('diff') === false ? 'binary: .gitattributes says so' : undefined
}

/** The text is not that of the commit, to which a change would have to apply. */
function filledIn(given: Attributes): string | undefined {
  return given.get('export-subst') === true ? 'filled in by git for the archive (export-subst)' : undefined
}

/** Folders of these names contain other people's code; `packages`, `external` and `deps` may be the project's own. */
const vendoredNames =
  /^_*(?:vendor|vendored|third[-_]?part(?:y|ies)|3rd[-_]?part(?:y|ies)|extern|externals)(?:_?packages|_libs?)?$/i

/** Matches folders of Go's and Apple's package managers; in small letters the first is a word of Kubernetes. */
const packageFolder = /^(?:Pods|Carthage|Godeps)$/

/** Single files that are copied into a project: installers, and scripts of build systems. */
const vendoredFile =
  /^(?:versioneer\.py|ez_setup\.py|distribute_setup\.py|ah_bootstrap\.py|get-pip\.py|gradlew|mvnw|waf|config\.(?:guess|sub)|ltmain\.sh|install-sh|jquery(?:[-.][\d.]+)?\.js)$/

/** Output of interface compilers and minifiers, whose head does not always say so, and lock files. */
const generatedFile =
  /(?:_pb2(?:_grpc)?\.pyi?|\.pb(?:\.\w+)?\.(?:go|cc|h|swift)|_pb\.(?:js|ts|rb)|\.g(?:\.i)?\.cs|\.designer\.cs|\.min\.(?:[cm]?js|css))$/i
const lockFile =
  /^(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lock|deno\.lock|cargo\.lock|poetry\.lock|uv\.lock|pdm\.lock|pipfile\.lock|composer\.lock|gemfile\.lock|podfile\.lock|mix\.lock|flake\.lock|packages\.lock\.json|module\.bazel\.lock|gopkg\.lock|go\.sum)$/i
const generatedFolder = /^__generated__$/

/** Folders of migrations also contain ordinary files: only those with a number or a time in their name are migrations. */
const migrationFolder = /^(?:migrations?|migrate)$/i
const migrationFile = /^(?:\d{3,}[-_.]\w|[vu]\d[\w.]*__\w|version\d{12,}\b)/i
const modelSnapshot = /ModelSnapshot\.cs$/

const snapshotFolder = /^__(?:image_)?snapshots__$/i
const snapshotFile =
  /\.(?:snap(?:\.new)?|ambr|snapshot)$|\.(?:approved|received|verified)\.(?:txt|json|xml|html|md|cs|ya?ml|csv)$/
/** Python's snapshottest writes these. */
const snapshotModule = /(?:^|\/)snapshots\/snap_\w+\.py$/

export function kindOfFolder(name: string): SkipKind | undefined {
  if (vendoredNames.test(name) || packageFolder.test(name)) return 'vendored'
  if (snapshotFolder.test(name)) return 'snapshots'
  return generatedFolder.test(name) ? 'generated' : undefined
}

/** Tells what a file is by its name and its folder's. A numbered folder in `migrations` is one migration, as with Prisma. */
function kindOfFile(path: string): SkipKind | undefined {
  const name = basename(path)
  if (isSecretByName(path)) return 'secrets'
  if (vendoredFile.test(name)) return 'vendored'
  if (generatedFile.test(name) || lockFile.test(name)) return 'generated'
  if (snapshotFile.test(name) || snapshotModule.test(path)) return 'snapshots'
  return isMigration(path.split('/')) ? 'migrations' : undefined
}

function isMigration(segments: readonly string[]): boolean {
  const at = segments.length - 1
  const isFile = migrationFolder.test(segments[at - 1] ?? '')
  if (isFile && (migrationFile.test(segments[at] ?? '') || modelSnapshot.test(segments[at] ?? ''))) return true
  return migrationFolder.test(segments[at - 2] ?? '') && migrationFile.test(segments[at - 1] ?? '')
}
