import { parse as parseYaml } from 'yaml'
import { type ConfigTree, nearest, stringOf, stringsOf, tableAt, within } from './config-tree.ts'

/** What Ruff before 0.16 has on where a configuration selects nothing; since then it is some four hundred rules. */
export const rulesBefore16 = ['E4', 'E7', 'E9', 'F']

/**
 * Whether the project in this folder is known to run Ruff 0.16 or newer: by `required-version`, else by the nearest folder
 * that has the hook in `.pre-commit-config.yaml`, a lock file with Ruff, or a requirement in its pyproject.toml.
 */
export function runsRuff16(tree: ConfigTree, folder: string, requirement: string | undefined): boolean {
  const versionIn = (place: string) =>
    hookVersion(tree, place) ?? lockedVersion(tree, place) ?? dependencyVersion(tree, place)
  const found = requirement ?? nearest(versionIn)(folder)
  return found !== undefined && isFrom16(found)
}

const bound = /^\s*(?<operator>===|==|~=|<=|<|>=|>|!=|\^|~)?\s*v?(?<major>\d+)\.(?<minor>\d+)/

/** Whether a part of `==0.17.1`, `~=0.16`, `>=0.16,<0.20` allows nothing older. */
function isFrom16(requirement: string): boolean {
  return requirement.split(',').some((part) => {
    const groups = bound.exec(part)?.groups
    if (groups === undefined || ['<', '<=', '!='].includes(groups['operator'] ?? '==')) return false
    return Number(groups['major']) > 0 || Number(groups['minor']) >= 16
  })
}

function hookVersion(tree: ConfigTree, folder: string): string | undefined {
  const paths = ['.pre-commit-config.yaml', '.pre-commit-config.yml'].map((name) => within(folder, name))
  const text = paths.map((path) => tree.text(path)).find((one) => one !== undefined)
  const repositories = text === undefined ? undefined : tableAt(parsedYaml(text))?.['repos']
  if (!Array.isArray(repositories)) return undefined
  const ruff = repositories
    .map((one) => tableAt(one))
    .find((one) => /\bruff-pre-commit\b/.test(stringOf(one?.['repo']) ?? ''))
  return stringOf(ruff?.['rev'])
}

/** Undefined for what is no YAML: then nothing is known of the hook. */
function parsedYaml(text: string): unknown {
  try {
    return parseYaml(text)
  } catch {
    return undefined
  }
}

/** Of uv, Poetry or PDM, which write it alike. */
function lockedVersion(tree: ConfigTree, folder: string): string | undefined {
  const texts = ['uv.lock', 'poetry.lock', 'pdm.lock'].map((name) => tree.text(within(folder, name)) ?? '')
  return /^name = "ruff"\r?\nversion = "(?<version>[^"]+)"/m.exec(texts.join('\n'))?.groups?.['version']
}

function dependencyVersion(tree: ConfigTree, folder: string): string | undefined {
  const project = tree.table(within(folder, 'pyproject.toml'))
  const groups = [tableAt(project, 'dependency-groups'), tableAt(project, 'project', 'optional-dependencies')]
  const requirements = groups.flatMap((group) =>
    Object.values(group ?? {}).flatMap((list) => (Array.isArray(list) ? list : [])),
  )
  for (const requirement of [...requirements, ...stringsOf(tableAt(project, 'tool', 'uv')?.['dev-dependencies'])]) {
    const version = /^ruff\s*(?<version>[=~<>!].*)$/.exec(stringOf(requirement) ?? '')?.groups?.['version']
    if (version !== undefined) return version
  }
  return undefined
}
