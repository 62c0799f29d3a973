import { LRUCache } from 'lru-cache'
import type { Evidence, evidenceChecks } from '#domain/evidence.ts'
import { sha256 } from '#domain/hash.ts'
import { languageOf } from '#syntax/grammars.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import type { LintReport, PythonLinter } from './python-linter.ts'
import { openStructureHash } from './python-structure.ts'

export type EvidenceCheck = (typeof evidenceChecks)[number]

/** One file before and after. `before` is undefined for a new file; `inNode` says whether all edits lie in the node. */
export type CheckedFile = { path: string; before: string | undefined; after: string; inNode?: boolean }

export type EvidenceChecker = {
  /** The evidence asked for, one entry per check that applies to the file's language, in the order asked. */
  check(file: CheckedFile, checks: readonly EvidenceCheck[]): Evidence[]
}

/** Checks with the real linter and parser. What was found out about a text is kept for the next operation on it. */
export function openEvidenceChecker(deps: { linter: PythonLinter; python: LoadedLanguage }): EvidenceChecker {
  const hashStructure = openStructureHash()
  const structures = new LRUCache<string, string>({ max: 2000 })
  const { lint } = deps.linter
  const structure = (text: string) => {
    const key = sha256(text)
    const known = structures.get(key) ?? deps.python.read(text, hashStructure)
    structures.set(key, known)
    return known
  }

  function checkPython(file: CheckedFile, check: EvidenceCheck): Evidence {
    const { path, before, after } = file
    if (check === 'docstring_only') {
      const same = before !== undefined && structure(before) === structure(after)
      return { check, path, ok: same, tool: 'tree-sitter-python' }
    }
    if (check === 'only_node_changed') return { check, path, ok: file.inNode === true, tool: 'byte ranges' }
    const now = lint(after)
    const was = before === undefined ? emptyReport : lint(before)
    return check === 'parses'
      ? parseEvidence(path, was, now, deps.linter.version)
      : lintEvidence(path, was, now, deps.linter.version)
  }

  return {
    check(file, checks) {
      if (languageOf(file.path) === 'python') return checks.map((check) => checkPython(file, check))
      return checks.includes('only_node_changed') ? [checkPython(file, 'only_node_changed')] : []
    },
  }
}

const emptyReport: LintReport = { diagnostics: [], syntaxErrors: [] }

/** A file that did not parse before may stay broken where it was, but not more. */
function parseEvidence(path: string, was: LintReport, now: LintReport, tool: string): Evidence {
  const [before, after] = [was.syntaxErrors.length, now.syntaxErrors.length]
  const first = now.syntaxErrors[0]
  const detail = first === undefined ? {} : { detail: `line ${first.line}: ${first.message}` }
  return { check: 'parses', path, ok: after <= before, tool, before, after, ...detail }
}

function lintEvidence(path: string, was: LintReport, now: LintReport, tool: string): Evidence {
  const [before, after] = [was.diagnostics.length, now.diagnostics.length]
  const known = new Set(was.diagnostics.map((one) => one.code))
  const fresh = [...new Set(now.diagnostics.map((one) => one.code))].filter((code) => !known.has(code))
  const detail = fresh.length === 0 ? {} : { detail: `new: ${fresh.join(', ')}` }
  return { check: 'lint_before_after', path, ok: after <= before, tool, before, after, ...detail }
}
