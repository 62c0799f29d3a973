import { folderOf } from '#domain/repo-path.ts'
import { ignoreRules } from '#platform/git-ignore.ts'
import { stringOf, stringsOf, type Table, tableAt, tablesOf, within } from './config-tree.ts'
import type { PathTest } from './file-patterns.ts'
import {
  extendedPath,
  isCircular,
  ofAll,
  ofNone,
  openPartLimit,
  patternTest,
  type ScriptConfig,
  type ScriptPart,
  type ScriptSources,
} from './script-files.ts'

/** Are programs, which are never run: what they would say is not known. */
const flatNames = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'].map((ending) => `eslint.config.${ending}`)
const programNames = ['.eslintrc.js', '.eslintrc.cjs']
const dataNames = ['.eslintrc.yaml', '.eslintrc.yml', '.eslintrc.json', '.eslintrc']

/**
 * ESLint's configuration that begins in a folder: that of the folder itself and of those above it, up to the one with `root: true`.
 * Undefined where the folder has none; a notice says of one that is a program that it is not run.
 */
export function eslintConfig(folder: string, sources: ScriptSources): ScriptConfig | undefined {
  const nearest = configIn(folder, sources)
  if (nearest === undefined) return undefined
  if (typeof nearest === 'string') {
    const certain: ScriptPart = { isMeant: ofAll, rules: {}, categories: { correctness: 'error' } }
    return { source: nearest, parts: [certain], isIgnored: ofNone }
  }
  const chain: { path: string; table: Table }[] = []
  for (let at: string | undefined = folder; at !== undefined; at = at === '' ? undefined : folderOf(at)) {
    const config = configIn(at, sources)
    if (typeof config === 'string') break
    if (config !== undefined) chain.unshift(config)
    if (config?.table['root'] === true) break
  }
  const limited = { ...sources, hasRoom: openPartLimit(nearest.path, sources.notice) }
  // The nearest first, so that it is the farthest that is left out where there are too many.
  const nearestFirst = chain.toReversed().map(({ path, table }) => {
    return partsOf({ path, table, isMeant: ofAll, open: [path] }, limited)
  })
  const parts = nearestFirst.toReversed().flat()
  return { source: chain.map(({ path }) => path).join(', '), parts, isIgnored: ignoredBy(chain, sources) }
}

/** Returns only the path of one that is a program. */
function configIn(
  folder: string,
  { tree, notice }: ScriptSources,
): { path: string; table: Table } | string | undefined {
  const program = [...flatNames, ...programNames].map((name) => within(folder, name)).find((path) => tree.has(path))
  if (program !== undefined) {
    notice(`${program} is a program and is not run: only what oxlint counts as certainly wrong is checked`)
    return program
  }
  const config = tree.firstIn(folder, dataNames)
  if (config !== undefined) return config
  const path = within(folder, 'package.json')
  const table = tableAt(tree.table(path), 'eslintConfig')
  return table && { path, table }
}

/** `open`: the files that lead here by extending each other, this one last. */
type Level = { path: string; table: Table; isMeant: PathTest; open: readonly string[] }
type LimitedSources = ScriptSources & { hasRoom(): boolean }

/** Lists what is extended first, then the configuration itself, then its overrides: the later ones win. */
function partsOf(level: Level, sources: LimitedSources): ScriptPart[] {
  const { path, table, isMeant, open } = level
  const { notice } = sources
  const extended = namesIn(table['extends']).flatMap((target) => extendedParts(target, level, sources))
  const own = {
    isMeant,
    rules: knownRules(tableAt(table['rules']) ?? {}, sources),
    env: tableAt(table['env']),
    globals: tableAt(table['globals']),
    settings: settingsOf(table),
  }
  const overrides = tablesOf(table['overrides'])
  const source = { folder: folderOf(path), source: path, notice }
  const inOverrides = overrides.flatMap((override) => {
    if (!sources.hasRoom()) return []
    const [isIn, isOut] = [patternTest(override['files'], source), patternTest(override['excludedFiles'], source)]
    const isAlso: PathTest = (file) => isMeant(file) && isIn(file) && !isOut(file)
    return partsOf({ path, table: override, isMeant: isAlso, open }, sources)
  })
  return [...extended, own, ...inOverrides]
}

function namesIn(value: unknown): string[] {
  return typeof value === 'string' ? [value] : stringsOf(value)
}

function extendedParts(target: string, { path, isMeant, open }: Level, sources: LimitedSources): ScriptPart[] {
  if (!sources.hasRoom()) return []
  const { recommended, tree, notice } = sources
  const errors = (rules: readonly string[]): ScriptPart[] => [
    { isMeant, rules: Object.fromEntries(rules.map((rule) => [rule, 'error'])) },
  ]
  if (target === 'eslint:recommended') return errors(recommended.eslint)
  if (/^plugin:@typescript-eslint\/(?:eslint-)?recommended$/.test(target)) return errors(recommended.typescript)
  // These only switch rules off, those of the formatter, which are not checked in any case.
  if (/^(?:plugin:)?prettier(?:\/|$)/.test(target)) return []
  const other = extendedPath(path, target)
  const extending = other === undefined ? undefined : tree.firstIn('', [other, `${other}.json`])
  if (extending !== undefined) {
    if (isCircular(extending.path, open, notice)) return []
    return partsOf({ ...extending, isMeant, open: [...open, extending.path] }, sources)
  }
  notice(`${path}: "extends" names ${JSON.stringify(target)}, a package or a program: its rules are not checked`)
  return []
}

function settingsOf(table: Table): Table | undefined {
  const react = tableAt(table['settings'], 'react')
  const version = stringOf(react?.['version'])
  return version !== undefined && /^\d/.test(version) ? { react: { version } } : undefined
}

/** Renames the rules as oxlint has them, with severities and options as they are. */
export function knownRules(rules: Table, { nameOfRule }: Pick<ScriptSources, 'nameOfRule'>): Table {
  return Object.fromEntries(
    Object.entries(rules).flatMap(([name, value]) => {
      const own = nameOfRule(name)
      return own === undefined ? [] : [[own, value] as const]
    }),
  )
}

function ignoredBy(chain: readonly { path: string; table: Table }[], { tree }: ScriptSources): PathTest {
  const lists = chain.flatMap(({ path, table }) => {
    const folder = folderOf(path)
    const patterns = [...namesIn(table['ignorePatterns']), tree.text(within(folder, '.eslintignore')) ?? '']
    // ESLint does not distinguish capitals here.
    return [{ top: within(folder, ''), rules: ignoreRules(patterns.join('\n').toLowerCase()) }]
  })
  return (path) =>
    lists.some(
      ({ top, rules }) =>
        path.startsWith(top) &&
        path.length > top.length &&
        rules(path.slice(top.length).toLowerCase(), false) === 'ignored',
    )
}
