import {
  defaultTextStyle,
  goLintRules,
  isGo,
  type LintRules,
  type RuffTree,
  type TextStyle,
} from '#domain/path-rules.ts'
import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type ConfigFile, readConfigTree } from './configuration/config-tree.ts'
import { type ConfiguredStyle, readStyleSources, styleReader } from './configuration/configured-style.ts'
import { readEditorConfig } from './configuration/editorconfig.ts'
import { readPythonRules, type RulesLinter } from './configuration/python-rules.ts'
import { readScriptRules } from './configuration/script-lint.ts'
import type { Linter } from './linter.ts'

export { isLintConfig, type ConfigFile } from './configuration/config-tree.ts'
export type { ConfiguredStyle } from './configuration/configured-style.ts'
export type { RulesLinter } from './configuration/python-rules.ts'

export type RepositoryLint = {
  rulesFor(path: string): { lint: LintRules; style: ConfiguredStyle }
  /** Is true when the repository's linter asks for a docstring of every method in the file. */
  wantsMethodDocstrings(path: string): boolean
  /** The tree in which Ruff lints the Python files, with the key by which rules name it. */
  ruffTree: (RuffTree & { key: string }) | undefined
  /** Tells users what of the configuration cannot be honoured, each once. */
  notices: readonly string[]
}

type RepositoryFiles = {
  paths: readonly string[]
  files: readonly ConfigFile[]
  scripts?: readonly string[]
  hasGo?: boolean
}

/**
 * Reads the rules of a repository for each of its files. `paths` are all paths of the snapshot, `files` those for which `isLintConfig` is
 * true. Options that a linter refuses are left out, with a notice. See `readPythonRules` and `readScriptRules`; Go has one format, and no
 * rules where there is no gofmt.
 */
export async function readRepositoryLint(
  { paths, files, scripts = [], hasGo = false }: RepositoryFiles,
  check: RulesLinter & Partial<Pick<Linter, 'scripts'> & { go: Pick<Linter['go'], 'lack'> }>,
): Promise<RepositoryLint> {
  const notices = new Set<string>()
  const notice = (words: string) => void notices.add(words)
  const governed = new Set(paths.filter((path) => /\.pyi?$/.test(path)).flatMap((path) => foldersUp(folderOf(path))))
  const tree = readConfigTree(files, (folder, words) => governed.has(folder) && notice(words))
  const python = await readPythonRules({ paths, tree, linter: check, notice })
  const styleIn = styleReader(readStyleSources(tree), readEditorConfig(tree))
  const known = new Map<string, ReturnType<typeof styleIn>>()
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
      const styleOf = getOrMake(known, folder, () => styleIn(folder, python.governing(folder)))
      return { lint: python.rulesOf(path), style: styleOf(path) }
    },
    wantsMethodDocstrings: (path) => python.governing(folderOf(path))?.settings.enabled.has('D102') === true,
    ruffTree: python.tree,
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
