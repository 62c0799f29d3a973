import { stringOf, tableAt, type ConfigTree, within } from './config-tree.ts'

const oldest = 7
const newest = 15

/** Built-in names newer than Python 3.7. Code that uses them after a version check is right on every version. */
export const newerBuiltins =
  'BaseExceptionGroup EncodingWarning ExceptionGroup PythonFinalizationError aiter anext'.split(' ')

/**
 * The oldest Python that a `requires-python` allows, as Ruff derives it: the lowest version with `==`, `===`, `~=`, `>`
 * or `>=`. Undefined when Ruff does not know that version (`>=3.6`, `>=3`).
 */
export function targetOfRequirement(requirement: string): string | undefined {
  const versions = requirement.split(',').flatMap((part) => {
    const groups = /^\s*(?:===|==|~=|>=|>)\s*v?(?<major>\d+)\.(?<minor>\d+)/.exec(part)?.groups
    return groups === undefined ? [] : [{ major: Number(groups['major']), minor: Number(groups['minor']) }]
  })
  const [least] = versions.toSorted((a, b) => a.major - b.major || a.minor - b.minor)
  if (least === undefined || least.major !== 3 || least.minor < oldest || least.minor > newest) return undefined
  return `py3${least.minor}`
}

/** `requires-python` of the project in this folder. */
function requiredPython(tree: ConfigTree, folder: string): string | undefined {
  const requirement = stringOf(tableAt(tree.table(within(folder, 'pyproject.toml')), 'project')?.['requires-python'])
  return requirement === undefined ? undefined : targetOfRequirement(requirement)
}

/** The same, else `python_requires` of `setup.cfg`, which Ruff does not read. */
export function requiredPythonOfProject(tree: ConfigTree, folder: string): string | undefined {
  const requirement = tree.ini(within(folder, 'setup.cfg'))?.get('options')?.get('python_requires')
  return requiredPython(tree, folder) ?? (requirement === undefined ? undefined : targetOfRequirement(requirement))
}
