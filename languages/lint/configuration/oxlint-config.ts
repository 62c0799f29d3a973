import { folderOf } from '#domain/repo-path.ts'
import { ignoreRules } from '#platform/git-ignore.ts'
import { stringsOf, type Table, tableAt, tablesOf, within } from './config-tree.ts'
import { knownRules } from './eslint-config.ts'
import type { PathTest } from './file-patterns.ts'
import {
  extendedPath,
  isCircular,
  ofAll,
  openPartLimit,
  patternTest,
  type ScriptConfig,
  type ScriptPart,
  type ScriptSources,
} from './script-files.ts'

const names = ['.oxlintrc.json', '.oxlintrc.jsonc']
/** These plugins are on without being named. */
const usualPlugins = ['unicorn', 'typescript', 'oxc']

/** Reads the configuration of oxlint in a folder. Plugins that are programs are never loaded. */
export function oxlintConfig(folder: string, sources: ScriptSources): ScriptConfig | undefined {
  const config = sources.tree.firstIn(folder, names)
  if (config === undefined) return undefined
  const { path, table } = config
  const rules = ignoreRules(stringsOf(table['ignorePatterns']).join('\n'))
  const top = within(folder, '')
  const isIgnored: PathTest = (file) => file.startsWith(top) && rules(file.slice(top.length), false) === 'ignored'
  const base: ScriptPart = { isMeant: ofAll, rules: {}, categories: { correctness: 'error' } }
  const limited = { ...sources, hasRoom: openPartLimit(path, sources.notice) }
  return { source: path, parts: [base, ...partsOf(path, { table, open: [path] }, limited)], isIgnored }
}

function partsOf(
  path: string,
  { table, open }: { table: Table; open: readonly string[] },
  sources: ScriptSources & { hasRoom(): boolean },
): ScriptPart[] {
  const { tree, notice, hasRoom } = sources
  if (table['jsPlugins'] !== undefined)
    notice(`${path}: "jsPlugins" are programs and are not run: their rules are not checked`)
  const extended = stringsOf(table['extends']).flatMap((target) => {
    if (!hasRoom()) return []
    const other = extendedPath(path, target)
    const extending = other === undefined ? undefined : tree.table(other)
    if (other !== undefined && extending !== undefined) {
      if (isCircular(other, open, notice)) return []
      return partsOf(other, { table: extending, open: [...open, other] }, sources)
    }
    notice(`${path}: "extends" names ${JSON.stringify(target)}, which is not among the configurations: it is left out`)
    return []
  })
  const place = { folder: folderOf(path), source: path, notice }
  const overrides = tablesOf(table['overrides'])
  const parts = overrides.flatMap((override): ScriptPart[] => {
    if (!hasRoom()) return []
    const [isIn, isOut] = [patternTest(override['files'], place), patternTest(override['excludeFiles'], place)]
    return [partOf(override, (file) => isIn(file) && !isOut(file), sources)]
  })
  const plugins = table['plugins'] === undefined ? usualPlugins : []
  const own = partOf(table, ofAll, sources)
  return [...extended, { ...own, plugins: [...plugins, ...(own.plugins ?? [])] }, ...parts]
}

function partOf(table: Table, isMeant: PathTest, sources: ScriptSources): ScriptPart {
  return {
    isMeant,
    rules: knownRules(tableAt(table['rules']) ?? {}, sources),
    plugins: stringsOf(table['plugins']),
    categories: tableAt(table['categories']),
    env: tableAt(table['env']),
    globals: tableAt(table['globals']),
    settings: tableAt(table['settings']),
  }
}
