import { stringify } from 'smol-toml'
import { sha256 } from '#domain/ids.ts'
import type { RuffTree } from '#domain/path-rules.ts'
import { folderOf } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'

/** Has Ruff report codes: in preview it would report rules by name. */
export const byCode = { 'output-prefer-rule-codes': true }

/** Makes a tree with one configuration, for texts of no repository. */
export function treeWith(options: Readonly<Record<string, unknown>>): RuffTree {
  return { files: { 'ruff.toml': stringify({ ...options, ...byCode }) }, modules: [] }
}

const keys = new WeakMap<RuffTree['files'], string>()

export function keyOfTree({ files, modules }: RuffTree): string {
  return getOrMake(keys, files, () => sha256(JSON.stringify([files, modules])))
}

/** Returns the folder of the configuration that governs the files of a folder. */
export function governingFolder(files: RuffTree['files'], folder: string): string {
  const prefix = folder === '' ? '' : `${folder}/`
  const isRuffs =
    ['.ruff.toml', 'ruff.toml'].some((name) => files[`${prefix}${name}`] !== undefined) ||
    /^\[tool\.ruff/m.test(files[`${prefix}pyproject.toml`] ?? '')
  return isRuffs || folder === '' ? folder : governingFolder(files, folderOf(folder))
}
