import type { LintRules } from '#domain/path-rules.ts'
import type { FileDocstringFacts } from '#python/docstring-facts.ts'
import type { ModuleUses } from '#python/module-uses.ts'

/** A Python file to look at. Without `rules` it is not linted: its linter leaves it out, or no agent asks for faults. */
export type PythonQuestion = {
  path: string
  text: string
  rules: LintRules | null
  /** Those of the repository's own modules that the text imports, as `#python/import-facts.ts` takes them. */
  ownModules: readonly string[]
}

/** A Python file, or a text that is no Python, or cannot be parsed, and is read for the names it uses of modules. */
export type SurveyQuestion = PythonQuestion | { namingText: string }

/** One fault under the repository's own rules. Lines are 1-based; bytes are 0-based, end-exclusive. */
export type LintFault = {
  code: string
  message: string
  line: number
  startByte: number
  endByte: number
  /** All that its safe fix changes, where it has one. */
  fixStartByte: number
  fixEndByte: number
  /** The statement around it, where that is short: what an agent may change to mend it. */
  contextStartByte: number
  contextEndByte: number
  /** It has a safe fix that may be made. */
  isFixable: boolean
  /** Why what it is about has to stay: no agent is asked to mend it. */
  mustStay?: string
  /** The name that mending it takes from the module. */
  removes?: string
}

/** What planning needs to know of one Python file. */
export type SurveyedFile = { faults: LintFault[]; docstrings: FileDocstringFacts; uses: ModuleUses }

export type SurveyReport = SurveyedFile | { uses: ModuleUses }
