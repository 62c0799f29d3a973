import type { PythonLinter } from '../python/lint/python-linter.ts'
import { isLintConfig, readRepositoryLint } from './repository-lint.ts'

/** What a repository of these files says, with ways to lint one of them; codes are sorted. */
export async function readFixture(files: Record<string, string>, linter: PythonLinter) {
  const paths = Object.keys(files)
  const configs = paths.filter(isLintConfig).map((path) => ({ path, text: files[path] ?? '' }))
  const rules = await readRepositoryLint({ paths, files: configs }, linter)
  const lint = (path: string) => linter.lint(files[path] ?? '', rules.rulesFor(path).lint)
  const codes = async (path: string) => (await lint(path)).diagnostics.map(({ code }) => code).toSorted()
  return { ...rules, lint, codes, styleOf: (path: string) => rules.rulesFor(path).style }
}
