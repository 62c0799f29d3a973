import { isUtf8 } from 'node:buffer'
import { hasCode } from '#domain/error.ts'
import type { LintRules } from '#domain/path-rules.ts'
import type { Diagnostic } from '#languages/lint/lint-report.ts'
import type { Linter } from '#languages/lint/linter.ts'
import { docstringsAt, type FileDocstringFacts } from '#languages/python/docstring-facts.ts'
import type { ModuleTypes } from '#languages/python/module-types.ts'
import type { ModuleUses } from '#languages/python/module-uses.ts'
import { ownModulesIn } from '#languages/python/own-modules.ts'
import { isStub } from '#languages/python/python-file.ts'
import type { RepositoryFacts } from '#languages/python/repository-facts.ts'
import type { SourceFile } from '#stages/discover/choose-files.ts'
import { bufferOf } from '#stages/discover/source-text.ts'
import type { LintFault, SurveyPool } from './survey-pool.ts'
import { maxFileBytes, tooLarge } from './survey-other-languages.ts'

export type SurveyedFile = {
  docstrings: FileDocstringFacts
  uses: ModuleUses
  types: ModuleTypes | undefined
}

export type PythonInput = {
  read(hash: string): Promise<Uint8Array>
  /** Holds what is known by path of Python files; the others are parsed. */
  facts: ReadonlyMap<string, RepositoryFacts>
  /** Is true when an agent looks for definitions by the types of their parameters. */
  wantsTypes?: boolean
}

type PythonDeps = { surveys: Pick<SurveyPool, 'placedFaults' | 'survey'>; linter: Pick<Linter, 'lack' | 'lint'> }

/** `unread`: why a file could not be parsed; its text is then searched for names. */
type Looked = { surveyed: SurveyedFile; isUtf8: boolean } | { unread: string; namingText?: string; isUtf8: boolean }

/** Finds what a Python file says about the repository, as far as discovery has not found that. */
export async function surveyFile(file: SourceFile, input: PythonInput, { surveys }: PythonDeps): Promise<Looked> {
  const { path, hash, size } = file
  const { wantsTypes = false } = input
  if (size > maxFileBytes) return { unread: tooLarge, isUtf8: true }
  // Discovery finds facts of UTF-8 alone.
  const known = input.facts.get(path)
  if (known !== undefined && !wantsTypes) return { surveyed: surveyedAt(path, known), isUtf8: true }
  const { text, isText } = await textOf(hash, input)
  const answer = await surveys.survey({ python: { text, wantsTypes, wantsFacts: known === undefined } })
  const facts = known ?? ('unreadable' in answer ? undefined : answer.facts)
  if (facts !== undefined) {
    const types = 'unreadable' in answer ? undefined : answer.types
    return { surveyed: surveyedAt(path, facts, types), isUtf8: isText }
  }
  return { unread: 'unreadable' in answer ? answer.unreadable : 'it has no facts', namingText: text, isUtf8: isText }
}

/** Reads a file; of one in another encoding than UTF-8 only the names matter, which are ASCII and show what it uses of others. */
async function textOf(hash: string, { read }: Pick<PythonInput, 'read'>) {
  const bytes = bufferOf(await read(hash))
  const isText = isUtf8(bytes)
  return { text: bytes.toString(isText ? 'utf8' : 'latin1'), isText }
}

function surveyedAt(path: string, { docstrings, uses }: RepositoryFacts, types?: ModuleTypes): SurveyedFile {
  return { docstrings: docstringsAt(path, docstrings), uses, types }
}

type Linting = { input: PythonInput; rules: LintRules; ownModules: ReadonlySet<string>; deps: PythonDeps }

/** Returns the faults of a Python file, or why it is not linted. */
export async function faultsOfPython(
  { path, hash, size }: SourceFile,
  { input, rules, ownModules, deps }: Linting,
): Promise<readonly LintFault[] | string> {
  const reason = size > maxFileBytes ? tooLarge : reasonNotToLint(path, rules)
  if (reason !== undefined) return reason
  const { text, isText } = await textOf(hash, input)
  if (!isText) return 'it is not UTF-8'
  const { diagnostics, why } = await diagnosticsOf(text, rules, deps)
  if (why !== undefined) return why
  if (diagnostics.length === 0) return []
  const place = { path, ownModules: ownModulesIn(text, ownModules) }
  const placed = await deps.surveys.placedFaults({ linted: { language: 'python', text, diagnostics, place } })
  return 'unreadable' in placed ? placed.unreadable : placed
}

type Linted = { diagnostics: readonly Diagnostic[]; why?: string | undefined }

async function diagnosticsOf(text: string, rules: LintRules, { linter }: PythonDeps): Promise<Linted> {
  if (linter.lack !== undefined) return { diagnostics: [], why: linter.lack }
  try {
    return { diagnostics: (await linter.lint(text, rules)).diagnostics }
  } catch (error) {
    if (!hasCode(error, 'TOOL_006')) throw error
    return { diagnostics: [], why: error.message }
  }
}

function reasonNotToLint(path: string, { isExcluded }: LintRules): string | undefined {
  if (isStub(path)) return 'it is a stub'
  return isExcluded ? "the repository's linter leaves it out" : undefined
}
