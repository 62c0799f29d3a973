import type { LintRules, PathRules, ScriptSuffix } from '#domain/path-rules.ts'
import { openPythonLinter, type PythonLinter } from './python-linter.ts'
import { oxlintVersion } from './script/oxlint-process.ts'
import { openScriptLinter, type ScriptLinter } from './script/script-linter.ts'

/** Lints by the rules of a file: those say which linter checks it. */
export type Linter = Omit<PythonLinter, 'keepFormat'> & {
  /** As for Python; a text of another language is returned as it is. */
  keepFormat(before: string, after: string, rules: Pick<PathRules, 'lint' | 'text'>): Promise<string>
  /** The version of what checks JavaScript and TypeScript. */
  scriptVersion: string
  scripts: Pick<ScriptLinter, 'refusalOf' | 'rules'>
}

/** Ruff for Python, and oxlint for JavaScript and TypeScript, which starts with the first text of these. */
export async function openLinter(): Promise<Linter> {
  const python = await openPythonLinter()
  const scripts = openScriptLinter()
  return {
    ...python,
    scriptVersion: oxlintVersion,
    lint: (text, rules) => (isScript(rules) ? scripts.lint(text, rules) : python.lint(text, rules)),
    async keepFormat(before, after, rules) {
      return isScript(rules.lint) ? after : python.keepFormat(before, after, rules)
    },
    scripts,
    close: async () => void (await Promise.all([python.close(), scripts.close()])),
  }
}

function isScript(rules: LintRules): rules is LintRules & { suffix: ScriptSuffix } {
  return rules.suffix !== undefined
}
