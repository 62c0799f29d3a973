import { defaultTextStyle, goLintRules, isGo, type LintRules, type TextStyle } from '#domain/path-rules.ts'
import { folderOf } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type ConfigFile, readConfigTree, tableAt } from './configuration/config-tree.ts'
import { type ConfiguredStyle, readStyleSources, styleReader } from './configuration/configured-style.ts'
import { readEditorConfig } from './configuration/editorconfig.ts'
import { moduleTree } from './configuration/path-bound-rules.ts'
import { readFlake8Projects } from './configuration/flake8-projects.ts'
import { type OptionsCheck, readRuffProjects } from './configuration/ruff-projects.ts'
import { readScriptRules } from './configuration/script-lint.ts'
import type { Linter } from './linter.ts'
import { switchesOn } from './configuration/rule-selection.ts'

export { isLintConfig, type ConfigFile } from './configuration/config-tree.ts'
export type { ConfiguredStyle } from './configuration/configured-style.ts'
export type { OptionsCheck } from './configuration/ruff-projects.ts'

export type RepositoryLint = {
  /** Files with the same rules share the same objects, so callers may group by them. */
  rulesFor(path: string): { lint: LintRules; style: ConfiguredStyle }
  /** Tells users what of the configuration cannot be honoured, each once. */
  notices: readonly string[]
}

type RepositoryFiles = {
  paths: readonly string[]
  files: readonly ConfigFile[]
  /** The JavaScript and TypeScript files that are to be linted. */
  scripts?: readonly string[]
  /** Is true when Go is to be linted. */
  hasGo?: boolean
}

/**
 * Reads the rules of a repository for each of its Python files: from the nearest configuration of Ruff, else of flake8,
 * else of pycodestyle, else a small default. `paths` are all paths of the snapshot, `files` those for which
 * `isLintConfig` is true. Options that the linter refuses (`check`) are left out, with a notice. For `scripts` see `readScriptRules`;
 * Go has one format, and no rules where there is no gofmt.
 */
export async function readRepositoryLint(
  { paths, files, scripts = [], hasGo = false }: RepositoryFiles,
  check: OptionsCheck & Partial<Pick<Linter, 'scripts'> & { go: Pick<Linter['go'], 'lack'> }>,
): Promise<RepositoryLint> {
  const notices = new Set<string>()
  const notice = (words: string) => void notices.add(words)
  const modules = moduleTree(paths)
  const governing = new Set(modules.folders)
  const tree = readConfigTree(files, (folder, words) => governing.has(folder) && notice(words))
  const ruff = await readRuffProjects({ tree, modules, check, notice })
  const withoutRuff = modules.folders.filter((folder) => ruff.of(folder) === undefined)
  const flake8 = await readFlake8Projects(withoutRuff, { tree, modules, check, notice })
  const isConfigured = modules.folders.some(
    (folder) => ruff.of(folder) !== undefined || flake8.of(folder) !== undefined,
  )
  if (modules.folders.length > 0 && !isConfigured) {
    notice('there is no configuration of Ruff, flake8 or pycodestyle: only F, E9, W605, E713 and E714 are checked')
  }
  const styleIn = styleReader({ sources: readStyleSources(tree), editor: readEditorConfig(tree) })
  const rulesIn = (folder: string): FolderRules => {
    const linters = { ruff: ruff.of(folder), flake8: flake8.of(folder) }
    const lint = linters.ruff ? ruff.rulesIn(folder, linters.ruff) : flake8.rulesIn(folder, linters.flake8)
    return { lint, style: styleIn(folder, linters) }
  }
  const known = new Map<string, FolderRules>()
  const ofScripts =
    check.scripts === undefined ? undefined : await readScriptRules(scripts, files, { check: check.scripts, notice })
  const goLack = hasGo ? await check.go?.lack() : undefined
  if (goLack !== undefined) notice(`Go is not linted: ${goLack}`)
  return {
    rulesFor(path) {
      if (isGo(path) && goLack === undefined) return { lint: goLintRules, style: {} }
      const script = ofScripts?.get(path)
      if (script !== undefined) return { lint: script.lint, style: { lineLength: script.lineLength } }
      const folder = folderOf(path)
      const rules = getOrMake(known, folder, () => rulesIn(folder))
      return { lint: rules.lint(path), style: rules.style(path) }
    },
    notices: [...notices],
  }
}

/** Puts what the configuration says of a text over the habits of the files around it. */
export function textStyle(habits: Omit<TextStyle, 'lineLength'>, style: ConfiguredStyle): TextStyle {
  const { docLength, docstringQuotes, indent, lineLength = defaultTextStyle.lineLength } = style
  return {
    ...habits,
    lineLength,
    ...(docLength !== undefined && { docLength }),
    ...(docstringQuotes && { docstringQuotes }),
    ...(indent !== undefined && { indent }),
  }
}

export function wantsMethodDocstrings({ options, previewOptions }: LintRules): boolean {
  return [options, previewOptions].some((look) => {
    const lint = tableAt(look?.['lint'])
    return lint !== undefined && switchesOn(lint, 'D102')
  })
}

type FolderRules = { lint(path: string): LintRules; style(path: string): ConfiguredStyle }
