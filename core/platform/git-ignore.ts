import { constants } from 'node:fs'
import { access, open } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import ignore, { type Ignore } from 'ignore'

/** The rules of one `.gitignore` file, for paths under its folder. */
export type IgnoreLayer = { folder: string; rules: Ignore }

const maxDoubleStars = 3

/** The cost of many rules grows with the number of files; nobody writes so many by hand. */
export const maxRuleBytes = 1024 ** 2

/** Undefined without a `.gitignore` that counts. Matching is case-sensitive, as in Git on Linux. */
export async function ignoreLayer(folder: string): Promise<IgnoreLayer | undefined> {
  const text = await readRuleFile(join(folder, '.gitignore'))
  return text === undefined ? undefined : { folder, rules: ignoreRules(text) }
}

export function ignoreRules(text: string): Ignore {
  return ignore({ ignorecase: false }).add(affordableRules(text))
}

/**
 * The folders from the checkout's root down to an absolute folder, the layers above it, outermost first, and whether
 * they ignore it. Undefined outside of a checkout.
 */
export async function ignoreAbove(
  root: string,
): Promise<{ folders: string[]; layers: IgnoreLayer[]; isIgnored: boolean } | undefined> {
  const folders = [root]
  for (let folder = root; !(await hasGit(folder)); folder = dirname(folder)) {
    if (dirname(folder) === folder) return undefined
    folders.unshift(dirname(folder))
  }
  const layers: IgnoreLayer[] = []
  for (const folder of folders) {
    if (isIgnored(layers, folder, true)) return { folders, layers, isIgnored: true }
    const layer = folder === root ? undefined : await ignoreLayer(folder)
    if (layer !== undefined) layers.push(layer)
  }
  return { folders, layers, isIgnored: false }
}

/** Empty when the layers ignore the folder itself, which the user named. Undefined outside of a checkout. */
export async function layersAbove(root: string): Promise<IgnoreLayer[] | undefined> {
  const above = await ignoreAbove(root)
  return above?.isIgnored === true ? [] : above?.layers
}

/** For an absolute path in folders that are not ignored: the innermost rule that matches decides. */
export function isIgnored(layers: readonly IgnoreLayer[], path: string, isFolder: boolean): boolean {
  for (const { folder, rules } of layers.toReversed()) {
    const { ignored, unignored } = rules.test(`${relative(folder, path)}${isFolder ? '/' : ''}`)
    if (ignored || unignored) return ignored
  }
  return false
}

/**
 * Without rules of more than three `**`: the cost of matching one grows with that power of a path's depth, and a
 * repository must not be able to make its reader take very long.
 */
function affordableRules(text: string): string {
  return text
    .split('\n')
    .filter((rule) => rule.split('**').length - 1 <= maxDoubleStars)
    .join('\n')
}

/** Undefined when it cannot be read or is too large. Follows no link, as git; does not wait for a pipe. */
export async function readRuleFile(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stats = await file.stat()
    return stats.isFile() && stats.size <= maxRuleBytes ? await file.readFile('utf8') : undefined
  } catch {
    return undefined
  }
}

/** `.git` is a folder, or a file in worktrees and submodules. */
async function hasGit(folder: string): Promise<boolean> {
  return access(join(folder, '.git')).then(
    () => true,
    () => false,
  )
}
