import { LRUCache } from 'lru-cache'
import { AppError } from '#domain/error.ts'
import type { Evidence, EvidenceCheck } from '#domain/evidence.ts'
import { sha256 } from '#domain/hash.ts'
import type { PathRules } from '#domain/path-rules.ts'
import type { LintReport } from '#lint/lint-report.ts'
import type { PythonLinter } from '#lint/python-linter.ts'
import { openStructureHash } from '#python/python-structure.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import { bodiesKept } from './bodies-kept.ts'
import { commentsKept } from './comments-kept.ts'
import { importsKept } from './imports-kept.ts'
import { lineLengthKept } from './line-length.ts'
import { lintBeforeAfter } from './lint-before-after.ts'
import { namesKept } from './names-kept.ts'
import { operandsKept } from './operands-kept.ts'
import { parsesAsBefore } from './parses.ts'
import { openPythonFacts, type ComparedFacts, type Finding } from './python-facts.ts'

type PythonFile = { path: string; before: string | undefined; after: string; rules: PathRules }
type PythonCheck = Exclude<EvidenceCheck, 'only_node_changed'>

/** Answers what proves one check after the other of a Python file. Each of its texts is parsed once, and linted once. */
export type PythonProver = (file: PythonFile) => (check: PythonCheck) => Promise<Evidence>

const treeSitter = 'tree-sitter-python'

export function openPythonEvidence(deps: {
  linter: Pick<PythonLinter, 'version' | 'lint'>
  python: Pick<LoadedLanguage, 'read'>
}): PythonProver {
  const compare = openPythonFacts(deps.python)
  const structureOf = openStructures(deps.python)
  const { lint, version } = deps.linter

  return (file) => {
    const { path, before, after, rules } = file
    const facts = compare(before ?? '', after)
    const linted = () => lintBoth(file, lint)
    return async (check) => {
      switch (check) {
        case 'parses':
          return evidenceOf({ check, path, tool: version }, () =>
            linted().then(([was, now]) => parsesAsBefore(was, now)),
          )
        case 'lint_before_after':
          return evidenceOf({ check, path, tool: version }, () =>
            linted().then(([was, now]) => lintBeforeAfter(was, now, facts.lineRuns())),
          )
        case 'docstring_only':
          return {
            check,
            path,
            ok: before !== undefined && structureOf(before) === structureOf(after),
            tool: treeSitter,
          }
        default:
          return evidenceOf({ check, path, tool: treeSitter }, async () => factChecks[check](facts, { path, rules }))
      }
    }
  }
}

type FactCheck = (facts: ComparedFacts, file: Pick<PythonFile, 'path' | 'rules'>) => Finding

const factChecks: Record<Exclude<PythonCheck, 'parses' | 'lint_before_after' | 'docstring_only'>, FactCheck> = {
  comments_kept: (facts) => commentsKept(facts),
  names_kept: (facts, { rules }) => namesKept(facts, rules),
  imports_kept: (facts, { path, rules }) => importsKept(facts, { path, ownModules: rules.ownModules }),
  line_length: (facts, { rules }) => lineLengthKept(facts, rules.text),
  bodies_kept: (facts) => bodiesKept(facts),
  operands_kept: (facts) => operandsKept(facts),
}

/** A file that cannot be linted has no proof; the linter answers a text it knows at once. */
async function evidenceOf(
  proof: Pick<Evidence, 'check' | 'path' | 'tool'>,
  find: () => Promise<Finding>,
): Promise<Evidence> {
  try {
    const { fault, ...figures } = await find()
    return { ...proof, ok: fault === undefined, ...figures, ...(fault === undefined ? {} : { detail: fault }) }
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'TOOL_006')) throw error
    return { ...proof, ok: false, detail: error.message }
  }
}

type Linted = { text: string; report: LintReport }

async function lintBoth({ before, after, rules }: PythonFile, lint: PythonLinter['lint']): Promise<[Linted, Linted]> {
  const was = before === undefined ? emptyReport : await lint(before, rules.lint)
  const now = await lint(after, rules.lint)
  return [
    { text: before ?? '', report: was },
    { text: after, report: now },
  ]
}

const emptyReport: LintReport = { diagnostics: [], guards: [], syntaxErrors: [] }

function openStructures(python: Pick<LoadedLanguage, 'read'>): (text: string) => string {
  const hashStructure = openStructureHash()
  const structures = new LRUCache<string, string>({ max: 2000 })
  return (text) => {
    const key = sha256(text)
    const known = structures.get(key) ?? python.read(text, (tree) => hashStructure(tree, text))
    structures.set(key, known)
    return known
  }
}
