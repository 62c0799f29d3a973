import type { TextEdit } from './text-edit.ts'

/** One lint fault. Lines and columns are 1-based; `start`/`end` are UTF-16 units of the text. */
export type Diagnostic = {
  code: string
  message: string
  line: number
  column: number
  start: number
  end: number
  /** Edits of a fix that is on our safe list and that the repository allows; undefined when there is none. */
  fix: TextEdit[] | undefined
  /** Says why a fix that Ruff has is not made: `ours`, it is not on our list; `unsafe`, it counts as unsafe in this file. */
  withheld?: 'ours' | 'unsafe'
  /** Says why what is reported has to stay, although the linter sees no need: it has no fix then, and no agent is asked for one. */
  mustStay?: string
}

export type LintReport = {
  /** Lists faults under the repository's own rules; empty for a file that its linter excludes or that is not valid Python 3. */
  diagnostics: Diagnostic[]
  /** Faults that no change may add: those of the guard rules, and unused noqa comments. */
  guards: Diagnostic[]
  syntaxErrors: Diagnostic[]
}
