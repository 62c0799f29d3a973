import { parse as parseYaml } from 'yaml'
import { type ConfigTree, nearest, stringOf, stringsOf, tableAt, within } from './config-tree.ts'

/** What Ruff before 0.16 has on where a configuration selects nothing; since then it is some four hundred rules. */
export const rulesBefore16 = ['E4', 'E7', 'E9', 'F']

/**
 * Whether the project in this folder runs a Ruff older than 0.16: by `required-version`, else by the nearest folder that has
 * the hook in `.pre-commit-config.yaml`, a lock file with Ruff, or a requirement in its pyproject.toml. One that names no
 * version runs the newest.
 */
export function runsRuffBefore16(tree: ConfigTree, folder: string, requirement: string | undefined): boolean {
  const versionIn = (place: string) =>
    hookVersion(tree, place) ?? lockedVersion(tree, place) ?? dependencyVersion(tree, place)
  const found = requirement ?? nearest(versionIn)(folder)
  return found !== undefined && isBefore16(found)
}

/** Of `==0.5.1`, `~=0.5`, `>=0.4,<0.6` the most that is allowed; a lower bound alone allows the newest. */
function isBefore16(requirement: string): boolean {
  return requirement.split(',').some((part) => {
    const groups =
      /^\s*(?<operator>===|==|~=|<=|<|>=|>|!=|\^|~)?\s*v?(?<major>\d+)\.(?<minor>\d+)(?<patch>\.\d+)?/.exec(
        part,
      )?.groups
    if (groups === undefined || groups['major'] !== '0') return false
    const minor = Number(groups['minor'])
    const operator = groups['operator'] ?? '=='
    if (operator === '<') return minor <= 16
    // `~=0.5` takes 0.16, `~=0.5.1` does not.
    if (operator === '~=') return minor < 16 && groups['patch'] !== undefined
    return minor < 16 && ['===', '==', '<=', '^', '~'].includes(operator)
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
