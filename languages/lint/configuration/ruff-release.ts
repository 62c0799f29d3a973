import { readYaml } from '#platform/yaml-source.ts'
import { type ConfigTree, nearest, stringOf, stringsOf, tableAt, within } from './config-tree.ts'

/** Ruff's default selection before 0.16; since then it is about four hundred rules. */
export const rulesBefore16 = ['E4', 'E7', 'E9', 'F']

/**
 * The minor version of the newest Ruff 0.x that the project in this folder allows, according to `required-version`,
 * else to the nearest folder with the hook in `.pre-commit-config.yaml`, a lock file with Ruff, or a requirement in
 * pyproject.toml. Undefined when it allows any newer version, or names none.
 */
export function newestRuffMinor(tree: ConfigTree, folder: string, requirement: string | undefined): number | undefined {
  const versionIn = (at: string) => hookVersion(tree, at) ?? lockedVersion(tree, at) ?? dependencyVersion(tree, at)
  const version = requirement ?? nearest(versionIn)(folder)
  const bounds = (version?.split(',') ?? []).flatMap((part) => upperBound(part) ?? [])
  return bounds.length === 0 ? undefined : Math.min(...bounds)
}

/** The highest minor version allowed: 5 for `==0.5.1`, `~=0.5.1` and `<0.6`; undefined for a lower bound alone. */
function upperBound(part: string): number | undefined {
  const groups =
    /^\s*(?<operator>===|==|~=|<=|<|>=|>|!=|\^|~)?\s*v?(?<major>\d+)\.(?<minor>\d+)(?:\.(?<patch>\d+))?/.exec(
      part,
    )?.groups
  if (groups === undefined || groups['major'] !== '0') return undefined
  const minor = Number(groups['minor'])
  const patch = groups['patch']
  const operator = groups['operator'] ?? '=='
  if (operator === '<') return Number(patch ?? 0) === 0 ? minor - 1 : minor
  // `~=0.5` allows 0.16, `~=0.5.1` does not.
  if (operator === '~=') return patch === undefined ? undefined : minor
  return ['===', '==', '<=', '^', '~'].includes(operator) ? minor : undefined
}

function hookVersion(tree: ConfigTree, folder: string): string | undefined {
  const paths = ['.pre-commit-config.yaml', '.pre-commit-config.yml'].map((name) => within(folder, name))
  const [text] = paths.flatMap((path) => tree.text(path) ?? [])
  const repositories = text === undefined ? undefined : tableAt(readYaml(text).value)?.['repos']
  if (!Array.isArray(repositories)) return undefined
  const hooks = repositories.map((repository) => tableAt(repository))
  const ruff = hooks.find((hook) => /\bruff-pre-commit\b/.test(stringOf(hook?.['repo']) ?? ''))
  return stringOf(ruff?.['rev'])
}

/** uv, Poetry and PDM write the entry in the same form. */
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
