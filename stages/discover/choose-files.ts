import type { SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import { byPath, RepoPath } from '#domain/repo-path.ts'
import { pauseEvery } from '#platform/clock.ts'
import { grammarFile, languageOf } from '#languages/syntax/grammars.ts'
import type { SkipKind } from '#domain/run.ts'
import type { QueryPack } from './query-pack.ts'
import type { TreeRules } from './unwanted/tree-rules.ts'
import { pathJudge, type PathJudge } from './unwanted/unwanted-path.ts'

/** `hash` names the content to the reader and the cache. */
export type SourceFile = { path: string; hash: string; size: number }

export type SourceTree = { files: readonly SourceFile[]; rules: TreeRules }

export type DiscoveryFilters = {
  /** Globs or folders; no entry means everything. */
  paths?: readonly string[]
  languages?: readonly string[]
  nodeKinds?: readonly string[]
  exclude?: readonly string[]
  maxFileBytes?: number
  /** Kinds of files that are worked on although they are skipped by default. */
  include?: readonly SkipKind[]
  /** Is true when git has packed the files (`git archive`), as a code host does. */
  isPacked?: boolean
}

export type ChosenFiles = { files: SourceFile[]; skipped: SkippedFile[]; admitted: PathJudge['admitted'] }

const turnMs = 20

/**
 * Returns the files to parse and those skipped, sorted by path; those that `paths` or `languages` leave out are in neither. INTAKE_008 for
 * unsupported globs. Yields to other work of the process, and checks for an abort then.
 */
export async function chooseFiles(
  { files: tree, rules }: SourceTree,
  filters: DiscoveryFilters,
  signal?: AbortSignal,
): Promise<ChosenFiles> {
  const { maxFileBytes = 1_000_000 } = filters
  const include = new Set(filters.include)
  const judge = pathJudge({ paths: tree.map((file) => file.path), rules, include, isPacked: filters.isPacked })
  const wanted = globsOrFolders(filters.paths)
  const excluded = globsOrFolders(filters.exclude)
  const reasons = new Map<string, string>()
  const files: SourceFile[] = []
  const pause = pauseEvery(turnMs, signal)
  for (const file of tree) {
    await pause()
    const { path } = file
    if (wanted?.(path) === false || !speaks(path, filters.languages)) continue
    const unwanted = judge.unwanted(path)
    if (!RepoPath.safeParse(path).success) reasons.set(path, 'its name is no portable path')
    else if (excluded?.(path) === true) reasons.set(path, 'excluded')
    else if (unwanted !== undefined) reasons.set(unwanted.path, unwanted.reason)
    else if (file.size > maxFileBytes) reasons.set(path, `larger than ${maxFileBytes} bytes`)
    else files.push(file)
  }
  const skipped = Array.from(reasons, ([path, reason]) => ({ path, reason })).toSorted(byPath)
  return { files: files.toSorted(byPath), skipped, admitted: judge.admitted }
}

/** Refuses filter values that nothing could match: DISC_003 unknown language, DISC_001 one without a pack, RUN_002. */
export function checkFilters(filters: DiscoveryFilters, packs: ReadonlyMap<string, QueryPack>): void {
  for (const language of filters.languages ?? []) {
    grammarFile(language)
    if (!packs.has(language)) throw new AppError('DISC_001', `no query pack for ${language}`)
  }
  const kinds = new Set(['file', ...[...packs.values()].flatMap((pack) => pack.kinds)])
  const unknown = (filters.nodeKinds ?? []).filter((kind) => !kinds.has(kind))
  if (unknown.length > 0) {
    throw new AppError('RUN_002', `unknown node kind ${unknown.join(', ')}; known: ${[...kinds].toSorted().join(', ')}`)
  }
}

function speaks(path: string, languages: readonly string[] = []): boolean {
  return languages.length === 0 || languages.includes(languageOf(path) ?? '')
}

function globsOrFolders(patterns: readonly string[] = []): ((path: string) => boolean) | undefined {
  return patterns.length === 0 ? undefined : pathGlobs(patterns)
}
