import { type ChangeSet, checkOf } from '#domain/change-set.ts'
import { isTestCheck } from '#domain/checks.ts'
import { AppError } from '#domain/error.ts'
import { gitBlobId, type GitTree, type PlannedCommit, type PlannedFile } from '#domain/planned-commit.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import { hiddenSigns, isGitFolder, maxNameBytes, RepoPath } from '#domain/repo-path.ts'
import { findSecrets } from '#platform/secrets/redactor.ts'
import { type CommitSource, maxTotalBytes } from './plan-commits.ts'
import { actsOnItsOwn, isWorkflow } from './acts-on-its-own.ts'
import { foldedPath, type FoldedTree, openFoldedTree } from './folded-tree.ts'

/** Bounds what is published: bytes of a file, bytes of all of them, and how many files. */
export type PublishLimits = { fileBytes: number; totalBytes: number; files: number }

const publishLimits: PublishLimits = { fileBytes: 8_000_000, totalBytes: maxTotalBytes, files: 3_000 }

/** Says what somebody who answers for the repository has said yes to. */
export type PublishConsent = {
  /** Is true when what the host runs may be changed, such as its workflows and actions. */
  allowWorkflows: boolean
  /** Globs of files that may be changed although they act on their own (`actsOnItsOwn`). */
  allowPaths: readonly string[]
}

export type PublishBase = PublishConsent & {
  /** All of the commit that the commits are made on, as its host has it. */
  tree: GitTree
  /** Reads what a file was changed from, as whoever made the change has it. */
  readBase(file: PlannedFile & { baseHash: string }): Promise<Uint8Array>
  limits?: PublishLimits
  /** Rules that do not apply. */
  without?: readonly PublishRule[]
}

/** A file that must not be published. `reason` is the end of a sentence about its path, and has nothing of the file. */
export type RefusedFile<Unit> = { unit: Unit; file: PlannedFile; reason: string }

type Judged = { file: PlannedFile; base: PublishBase; folded: FoldedTree; limits: PublishLimits }
type Rule = (judged: Judged) => string | undefined | Promise<string | undefined>

export type PublishRule = keyof typeof rules

/** Returns files that must not be published, each with the first reason. A commit or change set with one is not applied for the next. */
export async function findRefused<Unit extends { files: readonly PlannedFile[] }>(
  units: Iterable<Unit> | AsyncIterable<Unit>,
  base: PublishBase,
): Promise<RefusedFile<Unit>[]> {
  const { tree, limits = publishLimits, without = [] } = base
  const applied = Object.entries(rules).filter(([name]) => !without.some((rule) => rule === name))
  const folded = openFoldedTree(tree)
  const faulty: RefusedFile<Unit>[] = []
  for await (const unit of units) {
    const undo = folded.apply(unit.files)
    const before = faulty.length
    for (const file of unit.files) {
      for (const [, rule] of applied) {
        const reason = await rule({ file, base, folded, limits })
        if (reason === undefined) continue
        faulty.push({ unit, file, reason })
        break
      }
    }
    if (faulty.length > before) undo()
  }
  return faulty
}

/** Checks, without trust in who made the commits, that each only changes what it may. PUBLISH_001, with nothing of the file. */
export async function checkPublishable(commits: readonly PlannedCommit[], base: PublishBase): Promise<void> {
  const [first] = await findRefused(commits, base)
  if (first !== undefined) throw refused(first.file.path, first.reason)
  if (base.without?.includes('size') !== true) requireSmall(commits, base.limits ?? publishLimits)
}

/** Throws PUBLISH_001 for a commit with a change set that is none of `asked`: who composes a patch is not who may say what is accepted. */
export function checkAsked(commits: readonly PlannedCommit[], asked: ReadonlySet<string>): void {
  const foreign = commits.flatMap((commit) => commit.changeSetIds).find((id) => !asked.has(id))
  if (foreign !== undefined) throw new AppError('PUBLISH_001', `change set ${foreign} of the patch was not asked for`)
}

function refused(path: string, reason: string): AppError {
  return new AppError('PUBLISH_001', `${JSON.stringify(path.slice(0, 200))} ${reason}`)
}

/** Each names what it refuses, so that its message is the end of a sentence about the path. */
const rules = {
  path: ({ file: { path } }) => {
    if (!RepoPath.safeParse(path).success) return 'is not a path inside the repository'
    const isLong = path.split('/').some((part) => Buffer.byteLength(part) > maxNameBytes)
    return isLong ? `has a name that is longer than ${maxNameBytes} bytes` : undefined
  },
  control: ({ file: { path } }) => (hiddenSigns.test(path) ? 'has a control character' : undefined),
  git_folder: ({ file: { path } }) =>
    path.split('/').some(isGitFolder) ? "leads into git's own folder on some system" : undefined,
  gitmodules: ({ file: { path } }) =>
    path.split('/').some((part) => gitmodules.test(foldedPath(part))) ? 'says which submodules there are' : undefined,
  workflows: ({ file: { path }, base }) => {
    return isWorkflow(path) && !base.allowWorkflows
      ? 'is run by the code host, which nobody has allowed (github.allow_workflows, --allow-workflows)'
      : undefined
  },
  acting: ({ file: { path }, base }) => {
    if (!actsOnItsOwn(path) || (isWorkflow(path) && base.allowWorkflows)) return undefined
    const isAllowed = pathGlobs(base.allowPaths)(path)
    return isAllowed ? undefined : 'acts on its own, which nobody has allowed (github.allow_paths, --allow-path)'
  },
  link: ({ file: { path }, folded }) => {
    const link = folded.linkOn(path)
    return link && `is, or leads through, the link ${JSON.stringify(link)}`
  },
  submodule: ({ file: { path }, folded }) => {
    const submodule = folded.submoduleOn(path)
    return submodule && `is, or is inside, the submodule ${JSON.stringify(submodule)}`
  },
  file_and_folder: ({ file: { path, content }, base, folded }) => {
    if (content === null || entryAt(path, base) !== undefined) return undefined
    const fileThere = folded.fileOn(path) ?? folded.fileBelow(path)
    return fileThere && `cannot be there together with ${JSON.stringify(fileThere)}`
  },
  letter_case: ({ file: { path, content }, base, folded }) => {
    if (content === null || entryAt(path, base) !== undefined) return undefined
    const [twin] = folded.twinsOf(path)
    return twin && `is the same file as ${JSON.stringify(twin)} where case does not count`
  },
  mode: ({ file: { path, content, executable, changesMode }, base }) => {
    const mode = entryAt(path, base)?.mode
    if (mode?.startsWith('100') !== true) return undefined
    if (mode !== '100644' && mode !== '100755') return `has the mode ${mode}`
    const isChanged = content !== null && executable !== (mode === '100755')
    return isChanged && changesMode !== true ? 'would get another mode, which is no change of the run' : undefined
  },
  base: async ({ file, base }) => {
    const { path, baseHash } = file
    const there = entryAt(path, base)
    if (baseHash === null) return there === undefined ? undefined : 'is to be new, but is there already'
    if (there === undefined) return 'is to be changed, but is not there'
    const isSame = gitBlobId(await base.readBase({ ...file, baseHash })) === there.sha
    return isSame ? undefined : 'is not as it was when the change was made'
  },
  size: ({ file: { content }, limits: { fileBytes } }) =>
    (content?.length ?? 0) > fileBytes ? `has more than ${fileBytes} bytes` : undefined,
  secret: async ({ file, base }) => {
    const { baseHash, content } = file
    if (content === null) return undefined
    const before = baseHash === null ? new Uint8Array() : await base.readBase({ ...file, baseHash })
    const line = newSecretLine(Buffer.from(before).toString(), Buffer.from(content).toString())
    return line === undefined ? undefined : `would have what looks like a secret in line ${line}`
  },
} satisfies Record<string, Rule>

function entryAt(path: string, { tree }: PublishBase) {
  const entry = tree.get(path)
  return entry?.mode === '040000' ? undefined : entry
}

/** Matches it with the short names that Windows gives it, and what Windows drops at the end of a name. */
const gitmodules =
  /^(?:\.gitmodules|gitmod~\d|gi7eba~\d|gi7eb~\d{2}|gi7e~\d{3}|gi7~\d{4}|gi~\d{5}|g~\d{6}|~\d{7})[. ]*(?::.*)?$/

function requireSmall(commits: readonly PlannedCommit[], { totalBytes, files: most }: PublishLimits): void {
  const files = commits.flatMap((commit) => commit.files)
  const count = new Set(files.map(({ path }) => path)).size
  if (count > most) throw new AppError('PUBLISH_001', `${count} files would change, more than ${most}`)
  const bytes = files.reduce((sum, { content }) => sum + (content?.length ?? 0), 0)
  if (bytes > totalBytes) throw new AppError('PUBLISH_001', `the changed files have more than ${totalBytes} bytes`)
}

/** Returns the number, from 1, of the first line with a secret that is not in the text before. */
function newSecretLine(before: string, after: string): number | undefined {
  const known = new Set(before.split('\n'))
  for (const { start, end } of findSecrets(after)) {
    if (before.includes(after.slice(start, end))) continue
    const first = after.lastIndexOf('\n', start - 1) + 1
    const last = after.indexOf('\n', end)
    const lines = after.slice(first, last < 0 ? after.length : last).split('\n')
    const added = lines.findIndex((line) => !known.has(line))
    if (added >= 0) return after.slice(0, first).split('\n').length + added
  }
  return undefined
}

/** PUBLISH_001 for a file that is in no change set, fails a check, or lacks evidence where its set has some on texts. */
export function checkEvidence(
  commits: readonly PlannedCommit[],
  { composition, sets }: Pick<CommitSource, 'composition' | 'sets'>,
): void {
  const composed = new Map(composition.files.map((file) => [file.path, file]))
  const begun = new Set<string>()
  for (const { changeSetIds, files } of commits) {
    for (const id of changeSetIds) begun.add(id)
    for (const { path } of files) {
      const file = composed.get(path)
      const own = (file?.changeSetIds ?? []).flatMap((id) => (begun.has(id) ? (sets.get(id) ?? []) : []))
      if (!own.some((set) => set.files.some((change) => change.path === path)))
        throw refused(path, 'is in no change set')
      const failed = file?.evidence.find(({ ok }) => !ok)
      if (failed !== undefined) throw refused(path, `does not pass the check ${failed.check}`)
      const bare = own.find((set) => lacksEvidence(set, path))
      if (bare !== undefined) throw refused(path, `is changed by ${bare.changeSetId}, which has no evidence on it`)
    }
  }
}

/** Is true when the set has checks of texts and leaves the file there without one. */
function lacksEvidence({ files, evidence }: ChangeSet, path: string): boolean {
  const left = new Set(files.flatMap((file) => (file.kind === 'delete' ? [] : file.path)))
  const ofTexts = evidence.filter((proof) => !isTestCheck(checkOf(proof)))
  const checked = new Set(ofTexts.map((proof) => proof.path).filter((checkedPath) => left.has(checkedPath)))
  return left.has(path) && checked.size > 0 && !checked.has(path)
}
