import type { FileDocFacts, NodeBytes } from '#languages/comments/doc-facts.ts'
import type { ModuleUses } from '#languages/python/module-uses.ts'
import type { RepositoryFacts } from '#languages/python/repository-facts.ts'
import type { ModuleTypes } from '#languages/python/module-types.ts'
import { openThreadPool } from '#platform/thread-pool.ts'
import type { Diagnostic } from '#languages/lint/lint-report.ts'

/** A Python file, of which is asked what it says about its repository. */
export type PythonQuestion = { python: { text: string; wantsFacts: boolean; wantsTypes: boolean } }

/** A file of another language, whose doc comments are looked at. */
type CommentQuestion = { docs: { language: string; source: string; nodes: readonly NodeBytes[] } }

/** A file with the faults that a linter found in it, each of which gets its place and its statement. */
export type LintedQuestion = {
  linted: {
    language: string
    text: string
    diagnostics: readonly Diagnostic[]
    /** Is needed to judge which fixes of Python are safe: `ownModules` are those of the repository that the text imports (`ownModulesIn`). */
    place?: { path: string; ownModules: readonly string[] }
  }
}

/** `namingText`: no Python, or not to be parsed; it is searched for names of modules. */
export type SurveyQuestion = PythonQuestion | { namingText: string } | CommentQuestion | LintedQuestion

/** Lines are 1-based; bytes are 0-based, end-exclusive. */
export type LintFault = {
  code: string
  message: string
  line: number
  startByte: number
  endByte: number
  /** Everything that its safe fix changes; the fault itself when it has none. */
  fixStartByte: number
  fixEndByte: number
  /** The statement around it, if that is short: what an agent may change to fix it. */
  contextStartByte: number
  contextEndByte: number
  isFixable: boolean
  /** Says why the code that it reports must stay: no agent is asked to fix it. */
  mustStay?: string
  /** Says why a fix that the linter has is not made, as the linter's report does; `offered`: others may import what it removes. */
  withheld?: 'ours' | 'unsafe' | 'offered'
  /** The names that a fix removes from the module. */
  removes?: readonly string[]
  /** Lists those of `removes` that others may import if the module is public. */
  offers?: readonly string[]
}

export type PythonAnswer = { python: { facts?: RepositoryFacts; types?: ModuleTypes } }

export type SurveyReport = PythonAnswer | { uses: ModuleUses } | FileDocFacts | { placedFaults: LintFault[] }

export type SurveyPool = ReturnType<typeof openSurveyPool>

/** Threads that lint and read Python files, started when first needed. `threads: 0` means one per core. */
export function openSurveyPool(options: { threads: number; fileLimitMs?: number }) {
  const pool = openThreadPool<SurveyQuestion, SurveyReport>({
    entry: new URL('./survey-thread.ts', import.meta.url),
    name: 'the linter',
    threads: options.threads,
    limitMs: options.fileLimitMs ?? 10_000,
    idleMs: 2_000,
  })
  /** Answers `unreadable` for a text that is nested too deeply, or too slow. The next file is not affected. */
  const ask = async <Report>(question: SurveyQuestion, own: (report: SurveyReport) => Report | undefined) => {
    const answer = await pool.ask(question)
    if (answer.kind !== 'report') return { unreadable: answer.why }
    const report = own(answer.report)
    if (report === undefined) throw new TypeError('the survey answered another question')
    return report
  }
  return {
    threads: pool.threads,
    survey: (question: PythonQuestion) => ask(question, (report) => ('python' in report ? report.python : undefined)),
    usesIn: (namingText: string) => ask({ namingText }, (report) => ('uses' in report ? report.uses : undefined)),
    docsIn: (question: CommentQuestion) => ask(question, (report) => ('definitions' in report ? report : undefined)),
    placedFaults: (question: LintedQuestion) =>
      ask(question, (report) => ('placedFaults' in report ? report.placedFaults : undefined)),
    /** Ends the threads; running requests fail. Safe to call twice. */
    close: pool.close,
  }
}
