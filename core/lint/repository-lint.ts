import type { LintRules } from '#domain/path-rules.ts'
import { isStub } from '#python/stub-file.ts'
import { type ConfigFile, folderOf, readConfigTree } from './configuration/config-tree.ts'
import { type ConfiguredStyle, styleOf } from './configuration/configured-style.ts'
import { readEditorConfig } from './configuration/editorconfig.ts'
import { moduleTree } from './configuration/first-party.ts'
import { readFlake8Projects } from './configuration/flake8-projects.ts'
import { type OptionsCheck, readRuffProjects } from './configuration/ruff-projects.ts'
import { readStyleSources } from './configuration/style-sources.ts'

export { isLintConfig, type ConfigFile } from './configuration/config-tree.ts'
export type { ConfiguredStyle } from './configuration/configured-style.ts'
export type { OptionsCheck } from './configuration/ruff-projects.ts'

export type RepositoryLint = {
  /** Files with the same rules have the same objects, so callers may group by them. */
  rulesFor(path: string): { lint: LintRules; style: ConfiguredStyle }
  /** What of the configuration cannot be honoured, in plain words, once each. */
  notices: readonly string[]
}

/**
 * The rules that a repository has for each of its Python files: of the nearest configuration of Ruff, else of flake8,
 * else of pycodestyle, else a small default. `paths` are all paths of the snapshot, `files` those that `isLintConfig`
 * names. `check` is asked whether Ruff takes the options; what it refuses is left out and said.
 */
export async function readRepositoryLint(
  { paths, files }: { paths: readonly string[]; files: readonly ConfigFile[] },
  check: OptionsCheck,
): Promise<RepositoryLint> {
  const notices = new Set<string>()
  const notice = (words: string) => void notices.add(words)
  const tree = readConfigTree(files, notice)
  const modules = moduleTree(paths)
  const ruff = await readRuffProjects({ tree, modules, check, notice })
  const flake8 = await readFlake8Projects({ tree, modules, check, notice })
  const texts = { sources: readStyleSources(tree), editor: readEditorConfig(tree) }
  const shared = { lint: sharedObjects<LintRules>(), style: sharedObjects<ConfiguredStyle>() }
  return {
    rulesFor(path) {
      const folder = folderOf(path)
      const linters = { ruff: ruff.of(folder), flake8: flake8.of(folder) }
      const lint = linters.ruff ? ruff.rulesFor(path, linters.ruff) : flake8.rulesFor(path, linters.flake8)
      return {
        // Ruff is not told that a text is a stub, where other rules hold.
        lint: shared.lint(isStub(path) ? { ...lint, isExcluded: true } : lint),
        style: shared.style(styleOf(path, linters, texts)),
      }
    },
    notices: [...notices],
  }
}

/** The same object for what has the same content. */
function sharedObjects<T>(): (value: T) => T {
  const known = new Map<string, T>()
  return (value) => {
    const key = JSON.stringify(value)
    const before = known.get(key) ?? value
    known.set(key, before)
    return before
  }
}
