import type { Evidence, EvidenceCheck } from '#domain/evidence.ts'
import type { PathRules } from '#domain/path-rules.ts'
import { languageOf } from '#syntax/grammars.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import type { PythonLinter } from '#lint/python-linter.ts'
import { openPythonEvidence } from './python-evidence.ts'
import type { SyntaxChecker } from './syntax-checker.ts'
import { openSyntaxEvidence } from './syntax-evidence.ts'

/** One file before and after. `before` is undefined for a new file; `inNode` says whether all edits lie in the node. */
export type CheckedFile = {
  path: string
  before: string | undefined
  after: string
  inNode?: boolean
  rules: PathRules
}

export type EvidenceChecker = {
  /**
   * The evidence asked for, one entry per check, in the order asked: what there is no means for in the file's language is
   * `not_checked`. A file that cannot be linted or parsed has no proof: `ok` is false and `detail` says why.
   */
  check(file: CheckedFile, checks: readonly EvidenceCheck[]): Promise<Evidence[]>
}

/** Checks with the real linter and parser. What was found out about a text is kept for the next operation on it. */
export function openEvidenceChecker(deps: {
  linter: Pick<PythonLinter, 'version' | 'lint'>
  python: Pick<LoadedLanguage, 'read'>
  syntax: Pick<SyntaxChecker, 'read'>
}): EvidenceChecker {
  const python = openPythonEvidence(deps)
  const other = openSyntaxEvidence(deps.syntax)
  return {
    async check(file, checks) {
      const language = languageOf(file.path)
      const prove = language === 'python' ? python(file) : other(file, language)
      const evidence: Evidence[] = []
      for (const check of checks) {
        const { path, inNode } = file
        if (check === 'only_node_changed') evidence.push({ check, path, ok: inNode === true, tool: 'byte ranges' })
        else evidence.push(await prove(check))
      }
      return evidence
    },
  }
}
