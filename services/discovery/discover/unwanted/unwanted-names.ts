import { basename } from 'node:path/posix'
import type { SkipKind } from '#domain/skip-kind.ts'

/** Folders that are called so hold other people's code; `packages`, `external` and `deps` may be one's own. */
const vendoredFolder =
  /^_*(?:vendor|vendored|third[-_]?part(?:y|ies)|3rd[-_]?part(?:y|ies)|extern|externals)(?:_?packages|_libs?)?$/i

/** Of Go's and Apple's package managers; in small letters the first is a word of Kubernetes. */
const packageFolder = /^(?:Pods|Carthage|Godeps)$/

/** Single files that are copied into a project: installers, and scripts of build systems. */
const vendoredFile =
  /^(?:versioneer\.py|ez_setup\.py|distribute_setup\.py|ah_bootstrap\.py|get-pip\.py|gradlew|mvnw|waf|config\.(?:guess|sub)|ltmain\.sh|install-sh|jquery(?:[-.][\d.]+)?\.js)$/

/** What compilers of interfaces write, where the head does not always say so, and lock files. */
const generatedFile =
  /(?:_pb2(?:_grpc)?\.pyi?|\.pb(?:\.\w+)?\.(?:go|cc|h|swift)|_pb\.(?:js|ts|rb)|\.g(?:\.i)?\.cs|\.designer\.cs)$/i
const lockFile =
  /^(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lock|deno\.lock|cargo\.lock|poetry\.lock|uv\.lock|pdm\.lock|pipfile\.lock|composer\.lock|gemfile\.lock|podfile\.lock|mix\.lock|flake\.lock|packages\.lock\.json|module\.bazel\.lock|gopkg\.lock|go\.sum)$/i
const generatedFolder = /^__generated__$/

/** Folders of migrations hold files of one's own too: only what carries a number or a time is a migration. */
const migrationFolder = /^(?:migrations?|migrate)$/i
const migrationFile = /^(?:\d{3,}[-_.]\w|[vu]\d[\w.]*__\w|version\d{12,}\b)/i
const modelSnapshot = /ModelSnapshot\.cs$/

const snapshotFolder = /^__(?:image_)?snapshots__$/i
const snapshotFile =
  /\.(?:snap(?:\.new)?|ambr|snapshot)$|\.(?:approved|received|verified)\.(?:txt|json|xml|html|md|cs|ya?ml|csv)$/
/** Of Python's snapshottest. */
const snapshotModule = /(?:^|\/)snapshots\/snap_\w+\.py$/

/** What a folder of this name is by its name alone: all that lies in it is the same. */
export function kindOfFolder(name: string): SkipKind | undefined {
  if (vendoredFolder.test(name) || packageFolder.test(name)) return 'vendored'
  if (snapshotFolder.test(name)) return 'snapshots'
  return generatedFolder.test(name) ? 'generated' : undefined
}

/** What a file is by its name and its folder's. A numbered folder in `migrations` is one migration, as with Prisma. */
export function kindOfFile(path: string): SkipKind | undefined {
  const name = basename(path)
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

/** Git applies no patch to a path with such a segment: on Windows it would be `.git`. */
const gitName = /^(?:\.git|git~1)[ .]*(?::.*)?$/i

export function isRefusedByGit(name: string): boolean {
  return gitName.test(name)
}
