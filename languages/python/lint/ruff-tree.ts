import { stringify } from 'smol-toml'
import { sha256 } from '#domain/ids.ts'
import type { RuffTree } from '#domain/path-rules.ts'
import { folderOf } from '#domain/repo-path.ts'

/** In preview Ruff reports rules by name unless codes are preferred. */
export const byCode = { 'output-prefer-rule-codes': true }

/** A tree with one configuration, for texts of no repository. */
export function treeWith(options: Readonly<Record<string, unknown>>): RuffTree {
  return { files: { 'ruff.toml': stringify({ ...options, ...byCode }) }, modules: [] }
}

const keys = new WeakMap<RuffTree['files'], string>()

export function keyOfTree({ files, modules }: RuffTree): string {
  const known = keys.get(files)
  if (known !== undefined) return known
  const key = sha256(JSON.stringify([files, modules]))
  keys.set(files, key)
  return key
}

/** The folder of the configuration that governs the files of a folder. */
export function governingFolder(files: RuffTree['files'], folder: string): string {
  const prefix = folder === '' ? '' : `${folder}/`
  const isRuffs =
    ['.ruff.toml', 'ruff.toml'].some((name) => files[`${prefix}${name}`] !== undefined) ||
    /^\[tool\.ruff/m.test(files[`${prefix}pyproject.toml`] ?? '')
  return isRuffs || folder === '' ? folder : governingFolder(files, folderOf(folder))
}
