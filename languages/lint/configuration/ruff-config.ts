import { basename } from 'node:path/posix'
import { stringify } from 'smol-toml'
import { folderOf } from '#domain/repo-path.ts'
import { type ConfigTree, stringOf, stringsOf, type Table, tableAt, within, nearest } from './config-tree.ts'
import { byCode } from '../../python/lint/ruff-tree.ts'
import { resolvedPattern } from './file-patterns.ts'
import { readYaml } from '#platform/yaml-source.ts'

/** Holds a configuration of Ruff as the repository has it, but for what would lead out of the repository. */
export type RuffConfig = { path: string; folder: string; table: Table }

/** Returns the file that Ruff reads in a folder: `.ruff.toml`, else `ruff.toml`, else `pyproject.toml` with `[tool.ruff]`. */
export function ruffConfigIn(tree: ConfigTree, folder: string): string | undefined {
  const names = ['.ruff.toml', 'ruff.toml', 'pyproject.toml'].map((name) => within(folder, name))
  return names.find((path) => ruffTable(tree, path) !== undefined)
}

function ruffTable(tree: ConfigTree, path: string): Table | undefined {
  const table = tree.table(path)
  return basename(path) === 'pyproject.toml' ? tableAt(table, 'tool', 'ruff') : table
}

/** Names a configuration to users: `src/ruff.toml`, `pyproject.toml [tool.ruff]`. */
export function sourceOf(path: string): string {
  return basename(path) === 'pyproject.toml' ? `${path} [tool.ruff]` : path
}

/**
 * Returns a configuration and those that it extends, itself last. What it may not extend, or cannot, is left out with a notice. Where none
 * selects rules and the project's own Ruff is older than 0.16, the default of that time is laid in.
 */
export function ruffChain(tree: ConfigTree, path: string, notice: (words: string) => void): RuffConfig[] {
  const chain: RuffConfig[] = []
  let requirement: string | undefined
  for (let next: string | undefined = path; next !== undefined;) {
    const folder = folderOf(next)
    const { extend, 'required-version': required, src, ...table } = ruffTable(tree, next) ?? {}
    const extended = extendedBy(extend, folder, { tree, known: [next, ...chain.map((config) => config.path)] })
    if (extended.fault !== undefined) notice(`${next} extends ${String(extend)}, which is not read: ${extended.fault}`)
    requirement ??= stringOf(required)
    if (required !== undefined)
      notice(
        `${sourceOf(next)}: required-version ${JSON.stringify(required)} does not count: files are linted by the Ruff that is here`,
      )
    const inside =
      src === undefined ? undefined : stringsOf(src).filter((root) => resolvedPattern(root, folder) !== undefined)
    const kept = { ...(inside && { src: inside }), ...(extended.path !== undefined && { extend }) }
    chain.push({ path: next, folder, table: { ...table, ...kept } })
    next = extended.path
  }
  const [own] = chain
  const minor = newestRuffMinor(tree, folderOf(path), requirement)
  const isOld = minor !== undefined && minor < 16 && lintOption(chain.toReversed(), 'select') === undefined
  if (own !== undefined && isOld)
    own.table = { ...own.table, lint: { ...tableAt(own.table, 'lint'), select: rulesBefore16 } }
  return chain.toReversed()
}

type Extending = { tree: ConfigTree; known: readonly string[] }

function extendedBy(extend: unknown, folder: string, { tree, known }: Extending): { path?: string; fault?: string } {
  const extended = stringOf(extend)
  if (extended === undefined) return {}
  const meant = extended.startsWith('$') ? undefined : resolvedPattern(extended, folder)
  if (meant === undefined) return { fault: 'it is outside the repository' }
  const path = within(meant.folder, meant.rest)
  if (tree.table(path) === undefined) return { fault: 'it is not there or cannot be read' }
  return known.includes(path) ? { fault: 'it extends itself' } : { path }
}

/** Returns the text in which Ruff reads a configuration; of a `pyproject.toml`, with its Python version. */
export function laidConfig({ path, table }: Pick<RuffConfig, 'path' | 'table'>, tree: ConfigTree): string {
  const own = { ...table, ...byCode }
  return basename(path) === 'pyproject.toml'
    ? stringify({ ...projectOf(tree, path), tool: { ruff: own } })
    : stringify(own)
}

/** Returns the Python version of a `pyproject.toml` without a configuration, which Ruff looks for in every folder above. */
export function laidProject(tree: ConfigTree, path: string): string | undefined {
  const project = projectOf(tree, path)
  return project === undefined ? undefined : stringify(project)
}

function projectOf(tree: ConfigTree, path: string): { project: Table } | undefined {
  const requirement = stringOf(tableAt(tree.table(path), 'project')?.['requires-python'])
  return requirement === undefined ? undefined : { project: { 'requires-python': requirement } }
}

/** Returns what the last configuration of a chain says under a key of the linter's tables, or of a table in these. */
export function lintOption(chain: readonly RuffConfig[], ...keys: readonly string[]): unknown {
  const [tables, last = ''] = [keys.slice(0, -1), keys.at(-1)]
  // The linter's keys may also be at the top, which is deprecated.
  const values = chain.flatMap(({ table }) =>
    [table, tableAt(table, 'lint')].map((top) => tableAt(top, ...tables)?.[last]),
  )
  return values.findLast((value) => value !== undefined && value !== null)
}

/** Ruff's default selection before 0.16; since then it is about four hundred rules. */
const rulesBefore16 = ['E4', 'E7', 'E9', 'F']

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
