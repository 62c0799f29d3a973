import { execFile } from 'node:child_process'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '#domain/error.ts'
import { wordsOf } from '../wording.ts'

const execute = promisify(execFile)

/** Three contents of one file, each the path of a file: as the working copy has it, and before and after the change. */
export type ThreeSides = { current: string; before: string; after: string }

/** A place of the file before the change that both have changed, and the first line, from 1, of it in what was found. */
export type CollidingPlace = { base: LineSpan; line: number }

/** The path of the result, or why there is none: `places` is empty for what is no text. */
export type MergedFile = { file: string } | { places: readonly CollidingPlace[] }

export type Merging = {
  /** A folder that does not exist yet: a repository only for this. */
  repository: string
  searchPath: string
}

/**
 * Merges the change of each file into what was found. Git cannot where both have changed the same lines, or where it is no text. It is a merge of commits, not `git merge-file`, which knows only Myers' diff before
 * git 2.44: that takes lines that many places have, such as those of docstrings, for the same, and sees conflicts where none are.
 * Bytes stay as they are, whatever the settings of the user. CONFIG_006 without git.
 */
export async function mergeFiles(
  files: readonly ThreeSides[],
  { repository, searchPath }: Merging,
): Promise<MergedFile[]> {
  if (files.length === 0) return []
  await mkdir(repository)
  const git = async (...args: string[]) =>
    (await execute('git', args, { cwd: repository, env: ownSettings(repository, searchPath) })).stdout
  const nameOf = (number: number) => `${number}.file`
  const commit = async (side: keyof ThreeSides) => {
    for (const [number, file] of files.entries()) await copyFile(file[side], join(repository, nameOf(number)))
    await git('add', '--all')
    await git('commit', '--quiet', '--allow-empty', '--message', side)
  }
  try {
    await git('init', '--quiet', '--template=')
    await commit('before')
    await git('branch', 'current')
    await commit('after')
    await git('checkout', '--quiet', 'current')
    await commit('current')
    const options = ['--strategy=recursive', '--strategy-option=histogram', '--strategy-option=no-renames']
    await git('merge', '--quiet', '--no-commit', ...options, '@{-1}').catch(ignoreConflicts)
    const conflicts = new Set((await git('diff', '--name-only', '--diff-filter=U', '-z')).split('\0'))
    const placesIn = async (name: string) => {
      const base = (await git('merge-base', 'HEAD', '@{-1}')).trim()
      const hunksTo = async (side: string) =>
        hunksIn(await git('diff', '--unified=0', '--diff-algorithm=histogram', base, side, '--', name))
      const [current, changed] = [await hunksTo('HEAD'), await hunksTo('@{-1}')]
      const both = current.filter(({ before }) => changed.some((hunk) => touch(hunk.before, before)))
      return both.map(({ before, after }) => ({ base: before, line: after.start + 1 }))
    }
    const merged: MergedFile[] = []
    for (const number of files.keys()) {
      const name = nameOf(number)
      merged.push(conflicts.has(name) ? { places: await placesIn(name) } : { file: join(repository, name) })
    }
    return merged
  } catch (cause) {
    const message = `what has changed since cannot be merged, because git fails: ${wordsOf(cause)}; see "remora doctor"`
    throw new AppError('CONFIG_006', message, { cause })
  }
}

/** Git's exit code for them is 1. */
function ignoreConflicts(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 1)) throw error
}

/** Takes nothing of this machine or user: no attributes, filters, hooks or conversion of line ends. */
function ownSettings(home: string, searchPath: string): Record<string, string> {
  const person = { NAME: 'remora', EMAIL: 'remora@localhost' }
  const names = Object.entries(person).flatMap(([key, value]) =>
    ['AUTHOR', 'COMMITTER'].map((role) => [`GIT_${role}_${key}`, value] as const),
  )
  const nothing = { GIT_CONFIG_NOSYSTEM: '1', GIT_ATTR_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  // No process may go on in a folder that is removed.
  const inFront = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'gc.auto', GIT_CONFIG_VALUE_0: '0' }
  return {
    PATH: searchPath,
    HOME: home,
    XDG_CONFIG_HOME: home,
    LC_ALL: 'C',
    ...nothing,
    ...inFront,
    ...Object.fromEntries(names),
  }
}

/** Lines of a file from `start` up to but not with `end`, counted from 0; with `start` = `end` the place before that line. */
export type LineSpan = { start: number; end: number }

/** Is true when they have a line in common or are right beside each other: there git merges nothing. */
export function touch(left: LineSpan, right: LineSpan): boolean {
  return left.start <= right.end && right.start <= left.end
}

/** Returns the hunks of a diff of one file without context: the lines that are replaced, and those that are there instead. */
export function hunksIn(diff: string): { before: LineSpan; after: LineSpan }[] {
  return [...diff.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)].map(
    ([, from = '', count, to = '', newCount]) => ({ before: spanOf(from, count), after: spanOf(to, newCount) }),
  )
}

/** A hunk that removes or adds nothing names the line before it. */
function spanOf(first: string, count = '1'): LineSpan {
  const start = count === '0' ? Number(first) : Number(first) - 1
  return { start, end: start + Number(count) }
}
