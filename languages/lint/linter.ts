import { isGoRules, type LintRules, type PathRules, type ScriptSuffix } from '#domain/path-rules.ts'
import { type GoLinter, openGoLinter } from '../go/lint/go-linter.ts'
import { openPythonLinter, type PythonLinter } from './python-linter.ts'
import { oxlintVersion } from '../script/lint/oxlint-process.ts'
import { openScriptLinter, type ScriptLinter } from '../script/lint/script-linter.ts'

/** Lints by the rules of a file: those say which linter checks it. */
export type Linter = Omit<PythonLinter, 'keepFormat'> & {
  /** Keeps the format of Python as `PythonLinter` does; a text of another language is returned as it is. */
  keepFormat(before: string, after: string, rules: Pick<PathRules, 'lint' | 'text'>): Promise<string>
  /** The version of what checks JavaScript and TypeScript. */
  scriptVersion: string
  scripts: Pick<ScriptLinter, 'refusalOf' | 'rules'>
  go: Pick<GoLinter, 'version' | 'lack' | 'formatted'>
}

/**
 * Ruff for Python, oxlint for JavaScript and TypeScript, which starts with the first text of these, and for Go the gofmt of
 * `searchPath`, if it has one.
 */
export async function openLinter({ searchPath = '' }: { searchPath?: string } = {}): Promise<Linter> {
  const [python, go] = await Promise.all([openPythonLinter(), openGoLinter({ searchPath })])
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
