import { readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { affordableRules } from '#domain/git-ignore-rules.ts'

/** The rules of one `.gitignore` file; they speak of paths under its folder. */
export type IgnoreLayer = { folder: string; rules: Ignore }

/** The layer of a folder, or undefined when it has no `.gitignore` that can be read. */
export async function ignoreLayer(folder: string): Promise<IgnoreLayer | undefined> {
  const text = await readFile(join(folder, '.gitignore'), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : { folder, rules: ignore({ ignorecase: false }).add(affordableRules(text)) }
}

/**
 * The layers above a folder, outermost first, up to the root of the git checkout it lies in; none outside of one, and
 * none when they ignore the folder itself: then whoever named it wants it all the same.
 */
export async function layersAbove(root: string, hasGit: (folder: string) => Promise<boolean>): Promise<IgnoreLayer[]> {
  const folders = [root]
  for (let folder = root; !(await hasGit(folder)); folder = dirname(folder)) {
    if (dirname(folder) === folder) return []
    folders.unshift(dirname(folder))
  }
  const layers: IgnoreLayer[] = []
  for (const folder of folders) {
    if (isIgnored(layers, folder, true)) return []
    const layer = folder === root ? undefined : await ignoreLayer(folder)
    if (layer !== undefined) layers.push(layer)
  }
  return layers
}

/** Whether git would ignore an absolute path, none of whose folders is ignored: the innermost rule that speaks decides. */
export function isIgnored(layers: readonly IgnoreLayer[], path: string, isFolder: boolean): boolean {
  for (const { folder, rules } of layers.toReversed()) {
    const { ignored, unignored } = rules.test(`${relative(folder, path)}${isFolder ? '/' : ''}`)
    if (ignored || unignored) return ignored
  }
  return false
}
