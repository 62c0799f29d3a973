import { constants } from 'node:fs'
import { access, open } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { getOrMake } from './cached-answers.ts'
import { type GitPattern, gitPattern } from './git-pattern.ts'

export type IgnoreLayer = { folder: string; rules: IgnoreRules }

/** Says of a path whether the rules ignore it, or a folder that it is in, or keep it. The last rule that matches counts. */
export type IgnoreRules = (path: string, isFolder: boolean) => 'ignored' | 'unignored' | 'unsaid'

/** Every path is tested against every rule, and nobody writes so many by hand. */
export const maxRuleBytes = 128 * 1024

/** Returns undefined without a `.gitignore` that counts. Matching is case-sensitive, as in Git on Linux. */
export async function ignoreLayer(folder: string): Promise<IgnoreLayer | undefined> {
  const text = await readRuleFile(join(folder, '.gitignore'))
  return text === undefined ? undefined : { folder, rules: ignoreRules(text) }
}

/**
 * Reads rules as in gitignore(5); a text of more than `maxRuleBytes` has none. The npm package `ignore` makes regular
 * expressions of them: one rule with three `**` takes a second for a deep path.
 */
export function ignoreRules(text: string): IgnoreRules {
  if (text.length > maxRuleBytes) return () => 'unsaid'
  const rules = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .flatMap((line) => readRule(line) ?? [])
    .toReversed()
  const judge: IgnoreRules = (path, isFolder) => {
    const around = path.includes('/') ? ofFolder(path.slice(0, path.lastIndexOf('/'))) : 'unsaid'
    if (around === 'ignored') return around
    const segments = path.split('/')
    return rules.find(({ ofFolders, matches }) => (isFolder || !ofFolders) && matches(segments))?.verdict ?? 'unsaid'
  }
  const folders = new Map<string, ReturnType<IgnoreRules>>()
  const ofFolder = (folder: string) => getOrMake(folders, folder, () => judge(folder, true))
  return judge
}

type IgnoreRule = { verdict: 'ignored' | 'unignored'; ofFolders: boolean; matches: GitPattern }

function readRule(line: string): IgnoreRule | undefined {
  if (line.startsWith('#')) return undefined
  const isNegated = line.startsWith('!')
  const plain = withoutSpacesAtEnd(isNegated ? line.slice(1) : line)
  const ofFolders = plain.endsWith('/')
  const pattern = ofFolders ? plain.slice(0, -1) : plain
  if (pattern === '') return undefined
  return { verdict: isNegated ? 'unignored' : 'ignored', ofFolders, matches: gitPattern(pattern) }
}

function withoutSpacesAtEnd(line: string): string {
  let end = line.length
  while (line[end - 1] === ' ' && line[end - 2] !== '\\') end -= 1
  return line.slice(0, end)
}

/** Returns the folders from the checkout's root down, and the layers above, outermost first. Undefined outside of a checkout. */
export async function ignoreAbove(root: string) {
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

/** Is empty when the layers ignore the folder itself, which the user named. Is undefined outside of a checkout. */
export async function layersAbove(root: string): Promise<IgnoreLayer[] | undefined> {
  const above = await ignoreAbove(root)
  return above?.isIgnored === true ? [] : above?.layers
}

/** Judges an absolute path in folders that are not ignored: the innermost rule that matches decides. */
export function isIgnored(layers: readonly IgnoreLayer[], path: string, isFolder: boolean): boolean {
  for (const { folder, rules } of layers.toReversed()) {
    const verdict = rules(relative(folder, path), isFolder)
    if (verdict !== 'unsaid') return verdict === 'ignored'
  }
  return false
}

/** Returns undefined when it cannot be read or is too large. Follows no link, as git; does not wait for a pipe. */
export async function readRuleFile(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stats = await file.stat()
    return stats.isFile() && stats.size <= maxRuleBytes ? await file.readFile('utf8') : undefined
  } catch {
    return undefined
  }
}

async function hasGit(folder: string): Promise<boolean> {
  return access(join(folder, '.git')).then(
    () => true,
    () => false,
  )
}
