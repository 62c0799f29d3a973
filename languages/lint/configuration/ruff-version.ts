import { readYaml } from '#platform/yaml-source.ts'
import { type ConfigTree, nearest, stringOf, stringsOf, type Table, tableAt, within } from './config-tree.ts'
import { previewSince, stableSince } from './rule-history.ts'
import { switchesOn } from './rule-selection.ts'

/** Ruff's default selection before 0.16; since then it is about four hundred rules. */
export const rulesBefore16 = ['E4', 'E7', 'E9', 'F']

/**
 * The minor version of the newest Ruff 0.x that the project in this folder allows, according to `required-version`,
 * else to the nearest folder with the hook in `.pre-commit-config.yaml`, a lock file with Ruff, or a requirement in
 * pyproject.toml. Undefined when it allows any newer version, or names none.
 */
export function newestRuffMinor(tree: ConfigTree, folder: string, requirement: string | undefined): number | undefined {
  const versionIn = (place: string) =>
    hookVersion(tree, place) ?? lockedVersion(tree, place) ?? dependencyVersion(tree, place)
  const found = requirement ?? nearest(versionIn)(folder)
  const bounds = (found?.split(',') ?? []).flatMap((part) => upperBound(part) ?? [])
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
  const text = paths.map((path) => tree.text(path)).find((one) => one !== undefined)
  const repositories = text === undefined ? undefined : tableAt(readYaml(text).value)?.['repos']
  if (!Array.isArray(repositories)) return undefined
  const ruff = repositories
    .map((one) => tableAt(one))
    .find((one) => /\bruff-pre-commit\b/.test(stringOf(one?.['repo']) ?? ''))
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

/** Rules that took over a part of an older rule, which reported the same faults before. */
const splitFrom = new Map([['UP045', 'UP007']])

/**
 * The rules that a prefix or `ALL` in `lint` switches on with the Ruff we run, but not with Ruff 0.`minor`; in preview,
 * those that did not exist then. A rule that is selected by its exact code is not among them: that is on purpose.
 */
export function rulesNewerThan(minor: number, lint: Table, isPreview: boolean): string[] {
  // Without a selection Ruff's default applies, which has rules of any prefix.
  const chosen = lint['select'] === undefined ? { ...lint, select: ['ALL'] } : lint
  const named = new Set([...stringsOf(lint['select']), ...stringsOf(lint['extend-select'])])
  // With `explicit-preview-rules` no prefix turns a rule on while it is in preview.
  const since = isPreview && lint['explicit-preview-rules'] !== true ? previewSince : stableSince
  return Object.entries(since)
    .flatMap(([version, codes]) => (Number(version) > minor ? codes.split(' ') : []))
    .filter((code) => switchesOn(chosen, code) && !named.has(code) && !wasPartOfAnother(code, chosen))
}

/** The defaults of Ruff before 0.6; with the present ones, the project's fixes and ours would undo each other. */
const parenthesesBefore6 = { 'fixture-parentheses': true, 'mark-parentheses': true }

/** The options of PT001 and PT023 with the defaults of Ruff 0.`minor`; undefined when these are still the defaults. */
export function pytestStyleOf(minor: number, lint: Table, isPreview: boolean): Table | undefined {
  // In preview the defaults had changed earlier.
  if (minor >= 6 || isPreview) return undefined
  return { ...parenthesesBefore6, ...tableAt(lint['flake8-pytest-style']) }
}

function wasPartOfAnother(code: string, lint: Table): boolean {
  const whole = splitFrom.get(code)
  return whole !== undefined && switchesOn(lint, whole)
}
