import { defaultScriptRules, type LintRules, scriptSuffixOf } from '#domain/path-rules.ts'
import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { Linter } from '../linter.ts'
import type { OxlintRule } from '../../script/lint/oxlint-server.ts'
import { biomeConfig } from './biome-config.ts'
import { type ConfigFile, lengthOf, nearest, type Table, tableAt, within } from './config-tree.ts'
import { eslintConfig } from './eslint-config.ts'
import { oxlintConfig } from './oxlint-config.ts'
import { readScriptTree, type ScriptConfig, type ScriptSources, type ScriptTree } from './script-files.ts'

type ScriptRules = { lint: LintRules; lineLength: number }

type Reading = { check: Linter['scripts']; notice(words: string): void }

/**
 * Reads the rules of JavaScript and TypeScript files: of the nearest folder with a configuration of oxlint, Biome or ESLint, in this order, else
 * oxlint's own default. What oxlint does not accept is left out, with a notice.
 */
export async function readScriptRules(
  paths: readonly string[],
  files: readonly ConfigFile[],
  { check, notice }: Reading,
): Promise<ReadonlyMap<string, ScriptRules>> {
  if (paths.length === 0) return new Map()
  const folders = new Set(paths.flatMap((path) => foldersUp(folderOf(path))))
  const tree = readScriptTree(files, folders, notice)
  const sources = { tree, notice, ...namesOf(await check.rules()) }
  const configOf = nearest(
    (folder) => oxlintConfig(folder, sources) ?? biomeConfig(folder, sources) ?? eslintConfig(folder, sources),
  )
  const lengthIn = nearest((folder) => printWidth(tree, folder))
  const rules = new Map<string, ScriptRules>()
  const accepted = new Map<string, Promise<Table>>()
  let isConfigured = false
  for (const path of paths) {
    const suffix = scriptSuffixOf(path)
    if (suffix === undefined) continue
    const folder = folderOf(path)
    const config = configOf(folder)
    const lint = config === undefined ? defaultScriptRules(suffix) : rulesOf(config, path)
    isConfigured ||= lint.source !== 'default'
    const options = lint.isExcluded
      ? lint.options
      : await getOrMake(accepted, JSON.stringify(lint.options), () => withoutRefusedRules(lint, { check, notice }))
    rules.set(path, { lint: { ...lint, suffix, options }, lineLength: lengthIn(folder) ?? usualLength })
  }
  if (!isConfigured)
    notice("no configuration of oxlint, Biome or ESLint is read for JavaScript: oxlint's default is checked")
  return rules
}

/** Applies where no formatter sets a limit, and stops what nobody would want to read. */
const usualLength = 120
const prettierLength = 80

/** Matches rules that look into other files, which oxlint does not get. */
const needsFiles =
  /^import\/(?:default|export|extensions|named|namespace|no-cycle|no-named-as-default|no-named-as-default-member|no-relative-parent-imports|no-self-import|no-unassigned-import|unambiguous)$/

/** Maps prefixes that plugins of ESLint have to oxlint's name of the plugin. */
const plugins: Readonly<Record<string, string>> = {
  '@typescript-eslint': 'typescript',
  'react-hooks': 'react',
  'jsx-a11y': 'jsx_a11y',
  'react-perf': 'react_perf',
  'import-x': 'import',
  n: 'node',
  '@next/next': 'nextjs',
  '@vitest': 'vitest',
}

function namesOf(rules: readonly OxlintRule[]): Pick<ScriptSources, 'nameOfRule' | 'recommended'> {
  const usable = rules.filter((rule) => !rule.type_aware && !needsFiles.test(`${rule.scope}/${rule.value}`))
  const known = new Set(usable.map(({ scope, value }) => `${scope}/${value}`))
  const shown = (scope: string, rule: string) => (scope === 'eslint' ? rule : `${scope.replaceAll('_', '-')}/${rule}`)
  const recommendedOf = (scope: string) =>
    usable.filter((rule) => rule.recommended && rule.scope === scope).map(({ value }) => shown(scope, value))
  return {
    recommended: { eslint: recommendedOf('eslint'), typescript: recommendedOf('typescript') },
    nameOfRule(name) {
      const at = name.lastIndexOf('/')
      const [prefix, rule] = at < 0 ? ['eslint', name] : [name.slice(0, at), name.slice(at + 1)]
      const scope = plugins[prefix] ?? prefix.replaceAll('-', '_')
      // typescript-eslint has rules of its own in place of some of ESLint's, which oxlint has once.
      const scopes = scope === 'typescript' ? [scope, 'eslint'] : [scope]
      const own = scopes.find((candidate) => known.has(`${candidate}/${rule}`))
      return own && shown(own, rule)
    },
  }
}

function rulesOf({ source, parts, isIgnored }: ScriptConfig, path: string): Omit<LintRules, 'suffix'> {
  const meant = parts.filter(({ isMeant }) => isMeant(path))
  const all = (key: 'env' | 'globals' | 'settings' | 'categories'): Table =>
    Object.assign({}, ...meant.map((part) => part[key] ?? {}))
  const rules: Record<string, unknown> = {}
  for (const [rule, value] of meant.flatMap((part) => Object.entries(part.rules)))
    rules[rule] = overridden(rules[rule], value)
  const used = Object.keys(rules).flatMap((rule) => (rule.includes('/') ? rule.slice(0, rule.lastIndexOf('/')) : []))
  const named = new Set([...meant.flatMap((part) => part.plugins ?? []), ...used])
  const categories = all('categories')
  const options = {
    plugins: [...named].toSorted(),
    categories: Object.keys(categories).length === 0 ? { correctness: 'off' } : categories,
    ...filled('env', { builtin: true, ...all('env') }),
    ...filled('globals', all('globals')),
    ...filled('settings', all('settings')),
    rules,
  }
  return { source, options, ignored: [], isExcluded: isIgnored(path) }
}

function filled(key: string, table: Table): Table {
  return Object.keys(table).length === 0 ? {} : { [key]: table }
}

/** A severity alone leaves the options as they were, as in ESLint. */
function overridden(before: unknown, value: unknown): unknown {
  const [severity, ...options] = Array.isArray(value) ? value : [value]
  if (options.length > 0 || !Array.isArray(before)) return value
  return [severity, ...before.slice(1)]
}

/** Limits the rounds in which oxlint may refuse rules; each leaves out at least one. */
const maxRounds = 20

/** Returns the options without the rules that oxlint refuses, which it names; without any rule where it refuses something else. */
async function withoutRefusedRules(
  { source, options }: Pick<LintRules, 'source' | 'options'>,
  { check, notice }: Reading,
) {
  let accepted = options
  for (let round = 0; round < maxRounds; round++) {
    const refusal = await check.refusalOf(accepted)
    if (refusal === undefined) return accepted
    const names = [...refusal.matchAll(/\brule [`']([^`']+)[`']/gi)].flatMap(([, name]) => name ?? [])
    const rules = tableAt(accepted['rules']) ?? {}
    const refused = Object.keys(rules).filter((rule) =>
      names.some((name) => rule === name || rule.endsWith(`/${name}`) || name.endsWith(`/${rule}`)),
    )
    if (refused.length === 0) {
      notice(
        `${source} is passed over, since oxlint does not accept it: ${refusal.split('\n').slice(0, 3).join(' ').slice(0, 200)}`,
      )
      break
    }
    for (const rule of refused) notice(`${source}: ${rule} is left out: oxlint does not accept its options`)
    accepted = {
      ...accepted,
      rules: Object.fromEntries(Object.entries(rules).filter(([rule]) => !refused.includes(rule))),
    }
  }
  return { categories: { correctness: 'off' } }
}

/** The width that a formatter keeps lines to, which a fix must not exceed. */
function printWidth(tree: ScriptTree, folder: string): number | undefined {
  const prettierNames = ['.prettierrc', '.prettierrc.json', '.prettierrc.yaml', '.prettierrc.yml']
  const prettier =
    tree.firstIn(folder, prettierNames)?.table ?? tableAt(tree.table(within(folder, 'package.json')), 'prettier')
  if (prettier !== undefined) return lengthOf(prettier['printWidth']) ?? prettierLength
  const biome = tree.firstIn(folder, ['biome.json', 'biome.jsonc'])?.table
  const formatter = tableAt(biome, 'formatter')
  if (biome === undefined || formatter?.['enabled'] === false) return undefined
  const ofScripts = tableAt(biome, 'javascript', 'formatter')
  return lengthOf(ofScripts?.['lineWidth']) ?? lengthOf(formatter?.['lineWidth']) ?? prettierLength
}
