import { isGoRules, type LintRules, type PathRules, type ScriptSuffix } from '#domain/path-rules.ts'
import { type GoLinter, openGoLinter } from '../go/lint/go-linter.ts'
import { ruff } from '#platform/known-programs.ts'
import { locateProgram } from '#platform/obtain-program.ts'
import { openPythonLinter, type PythonLinter } from '../python/lint/python-linter.ts'
import { oxlintVersion } from '../script/lint/oxlint-server.ts'
import { openScriptLinter, type ScriptLinter } from '../script/lint/script-linter.ts'

/** Lints by the rules of a file: those say which linter checks it. */
export type Linter = Omit<PythonLinter, 'keepFormat'> & {
  /** Keeps the format of Python as `PythonLinter` does; a text of another language is returned as it is. */
  keepFormat(before: string, after: string, rules: Pick<PathRules, 'lint' | 'text'>): Promise<string>
  scriptVersion: string
  scripts: Pick<ScriptLinter, 'refusalOf' | 'rules'>
  go: Pick<GoLinter, 'version' | 'lack' | 'formatted'>
}

/**
 * Opens Ruff for Python and gofmt for Go, each of `searchPath`, if it has one, and oxlint for JavaScript and TypeScript. Their processes
 * start with the first text; `processes` lint Python.
 */
export async function openLinter(options: { searchPath: string; processes?: number }): Promise<Linter> {
  const { searchPath, processes = 1 } = options
  const { signal } = new AbortController()
  const places = { searchPath, programDir: undefined, signal, env: {} }
  const [program, go] = await Promise.all([locateProgram(ruff, places), openGoLinter({ searchPath })])
  const python = openPythonLinter({ ruff: program, processes })
  const scripts = openScriptLinter()
  return {
    ...python,
    scriptVersion: oxlintVersion,
    lint(text, rules) {
      if (isGoRules(rules)) return go.lint(text)
      return isScript(rules) ? scripts.lint(text, rules) : python.lint(text, rules)
    },
    async keepFormat(before, after, rules) {
      return rules.lint.suffix === undefined ? python.keepFormat(before, after, rules) : after
    },
    scripts,
    go,
    async close() {
      go.close()
      await Promise.all([python.close(), scripts.close()])
    },
  }
}

function isScript(rules: LintRules): rules is LintRules & { suffix: ScriptSuffix } {
  return rules.suffix !== undefined && !isGoRules(rules)
}
