import { folderOf, nameOf, type Table } from './config-tree.ts'
import type { ModuleTree } from './first-party.ts'
import { switchesOn } from './rule-selection.ts'

/**
 * Rules that look at where a file lies. The Ruff we run has a text and no path, so it never reports them, or for a path
 * that is not the file's.
 */
const lostRules = ['A005', 'D104', 'EXE001', 'EXE002', 'INP001', 'N999', 'PLW0406', 'RUF067']

/**
 * Rules that report too much without a path, for relative imports lead nowhere then: DOC502 misses what is raised,
 * PLC2701 takes the package's own private names for others'. RUF100 calls a noqa comment unused that is for one of these
 * or for one of `lostRules`.
 */
export const blindRules: readonly string[] = ['DOC502', 'PLC2701', 'RUF100']

/** Those of both that a selection names, itself or by a prefix. */
export function lostRulesOf(lint: Table): string[] {
  return [...lostRules, ...blindRules].filter((code) => switchesOn(lint, code))
}

const isPrivate = (name: string) => name.startsWith('_') && !/^__.*__$/.test(name)

export type SilentRules = { ignored: readonly string[]; unfixable: readonly string[] }

/** What Ruff, knowing the path, would not report in a file of this folder, and what it would not fix as safe. */
export function silentByPath(
  folder: string,
  modules: Pick<ModuleTree, 'packageOf'>,
  isPreview: boolean,
): (path: string) => SilentRules {
  const root = modules.packageOf(folder)
  const inPackage = root === undefined ? [] : folder.slice(folderOf(root).length).split('/')
  const isPrivateFolder = inPackage.some(isPrivate)
  return (path) => {
    const name = nameOf(path)
    const ofDocstrings = isPrivateFolder || isPrivate(name.replace(/\.pyi?$/, '')) ? ['D1'] : []
    if (name !== '__init__.py') return { ignored: ofDocstrings, unfixable: [] }
    // A package's own docstring is D104, an undefined name in `__all__` may be a submodule, `x as x` is an export.
    const ofPackage = ['D100', 'PLC0414', ...(isPreview ? [] : ['F822'])]
    return { ignored: [...ofDocstrings, ...ofPackage], unfixable: ['F401'] }
  }
}
