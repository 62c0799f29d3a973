import { LRUCache } from 'lru-cache'
import { AppError } from '#domain/error.ts'
import type { Evidence, EvidenceCheck } from '#domain/evidence.ts'
import type { PathRules } from '#domain/path-rules.ts'
import { sha256 } from '#domain/hash.ts'
import { languageOf } from '#syntax/grammars.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import { misencodedCharacters } from '#python/declared-encoding.ts'
import type { LintReport } from '#lint/lint-report.ts'
import type { PythonLinter } from '#lint/python-linter.ts'
import { openStructureHash } from '#python/python-structure.ts'
import { notChecked } from './not-checked.ts'
import type { SyntaxChecker } from './syntax-checker.ts'
import { syntaxEvidence } from './syntax-evidence.ts'

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
  python: LoadedLanguage
  syntax: Pick<SyntaxChecker, 'faults'>
}): EvidenceChecker {
  const hashStructure = openStructureHash()
  const structures = new LRUCache<string, string>({ max: 2000 })
  const { linter, syntax } = deps
  const { lint, version } = linter
  const structure = (text: string) => {
    const key = sha256(text)
    const known = structures.get(key) ?? deps.python.read(text, (tree) => hashStructure(tree, text))
    structures.set(key, known)
    return known
  }

  async function checkPython(file: CheckedFile, check: EvidenceCheck): Promise<Evidence> {
    const { path, before, after } = file
    if (check === 'docstring_only') {
      const same = before !== undefined && structure(before) === structure(after)
      return { check, path, ok: same, tool: 'tree-sitter-python' }
    }
    try {
      const was = before === undefined ? emptyReport : await lint(before, file.rules.lint)
      const now = await lint(after, file.rules.lint)
      return check === 'parses' ? parseEvidence(file, was, now, version) : lintEvidence(path, was, now, version)
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'TOOL_006')) throw error
      return { check, path, ok: false, tool: version, detail: error.message }
    }
  }

  async function checkOne(file: CheckedFile, check: EvidenceCheck): Promise<Evidence> {
    const { path } = file
    if (check === 'only_node_changed') return { check, path, ok: file.inNode === true, tool: 'byte ranges' }
    const language = languageOf(path)
    if (language === 'python') return checkPython(file, check)
    const isParsed = check === 'parses' && language !== undefined
    return isParsed ? syntaxEvidence(file, language, syntax) : notChecked(path, check, language)
  }

  return {
    async check(file, checks) {
      const evidence: Evidence[] = []
      for (const check of checks) evidence.push(await checkOne(file, check))
      return evidence
    },
  }
}

const emptyReport: LintReport = { diagnostics: [], guards: [], syntaxErrors: [] }

/** A file that did not parse before may stay broken where it was, but not more. */
function parseEvidence(
  { path, before: old, after: text }: CheckedFile,
  was: LintReport,
  now: LintReport,
  tool: string,
) {
  const check = 'parses' as const
  if (misencodedCharacters(text) > misencodedCharacters(old ?? '')) {
    return { check, path, ok: false, tool, detail: 'it declares another encoding than the UTF-8 it is written in' }
  }
  const [before, after] = [was.syntaxErrors.length, now.syntaxErrors.length]
  const first = now.syntaxErrors[0]
  const detail = first === undefined ? {} : { detail: `line ${first.line}: ${first.message}` }
  return { check, path, ok: after <= before, tool, before, after, ...detail }
}

function lintEvidence(path: string, was: LintReport, now: LintReport, tool: string): Evidence {
  const [before, after] = [was.diagnostics.length, now.diagnostics.length]
  const known = new Set(was.diagnostics.map((one) => one.code))
  const fresh = [...new Set(now.diagnostics.map((one) => one.code))].filter((code) => !known.has(code))
  const detail = fresh.length === 0 ? {} : { detail: `new: ${fresh.join(', ')}` }
  return { check: 'lint_before_after', path, ok: after <= before, tool, before, after, ...detail }
}
