import { relative } from 'node:path'
import { z } from 'zod'

/** A diagnostic of a linter or a type checker in one line. */
export const Diagnostic = z.strictObject({ file: z.string(), line: z.int(), rule: z.string(), message: z.string() })
export type Diagnostic = z.infer<typeof Diagnostic>

const RuffAnswer = z.array(
  z.object({
    code: z.string().nullable(),
    filename: z.string(),
    message: z.string(),
    location: z.object({ row: z.int() }),
    fix: z.object({ applicability: z.string() }).nullish(),
  }),
)

const PyrightAnswer = z.object({
  generalDiagnostics: z.array(
    z.object({
      file: z.string(),
      severity: z.string(),
      message: z.string(),
      rule: z.string().optional(),
      range: z.object({ start: z.object({ line: z.int() }) }),
    }),
  ),
})

/** The answer of `ruff check --output-format json`; with `safe`, only diagnostics with a fix that Ruff calls safe. */
export function readRuff(out: string, tree: string, which: 'all' | 'safe'): Diagnostic[] {
  const all = RuffAnswer.parse(JSON.parse(out))
  const chosen = which === 'all' ? all : all.filter(({ fix }) => fix?.applicability === 'safe')
  return chosen.map(({ code, filename, message, location }) => ({
    file: relative(tree, filename),
    line: location.row,
    rule: code ?? 'invalid-syntax',
    message,
  }))
}

/** Lines `path:row:col: CODE message`, of flake8 and pycodestyle. */
export function readStyleLines(out: string): Diagnostic[] {
  return out.split('\n').flatMap((line) => {
    const [, path, row, rule, message] = /^(.+?):(\d+):\d+: (\w+) (.*)$/.exec(line) ?? []
    if (path === undefined || rule === undefined || message === undefined) return []
    return [{ file: path.replace(/^\.\//, ''), line: Number(row), rule, message }]
  })
}

/** Lines `path:row: error: message  [code]`, of mypy and zuban. Notes belong to the error before them. */
export function readMypyLines(out: string): Diagnostic[] {
  return out.split('\n').flatMap((line) => {
    const [, file, row, text] = /^(.+?):(\d+)(?::\d+)?: error: (.*)$/.exec(line) ?? []
    if (file === undefined || text === undefined) return []
    const [, message = text, rule = 'error'] = /^(.*?) +\[([\w-]+)\]$/.exec(text) ?? []
    return [{ file, line: Number(row), rule, message }]
  })
}

/** The errors of `pyright --outputjson`. */
export function readPyright(out: string, tree: string): Diagnostic[] {
  const { generalDiagnostics } = PyrightAnswer.parse(JSON.parse(out))
  return generalDiagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ file, message, rule, range }) => ({
      file: relative(tree, file),
      line: range.start.line + 1,
      rule: rule ?? 'error',
      message,
    }))
}

/**
 * The diagnostics of `after` that `before` does not have, with their counts: same file, rule and message.
 * Lines are not compared, and neither are the line numbers that a message names: both move with the edits.
 */
export function newDiagnostics(before: readonly Diagnostic[], after: readonly Diagnostic[]): Diagnostic[] {
  const left = new Map<string, number>()
  for (const diagnostic of before) left.set(textOf(diagnostic), (left.get(textOf(diagnostic)) ?? 0) + 1)
  return after.filter((diagnostic) => {
    const count = left.get(textOf(diagnostic)) ?? 0
    left.set(textOf(diagnostic), count - 1)
    return count <= 0
  })
}

function textOf({ file, rule, message }: Diagnostic): string {
  return `${file}\0${rule}\0${message.replaceAll(/\bline \d+/g, 'line N')}`
}
