import { isUtf8 } from 'node:buffer'
import { hasCode } from '#domain/error.ts'
import type { LintRules } from '#domain/path-rules.ts'
import type { Diagnostic } from '#languages/lint/lint-report.ts'
import type { Linter } from '#languages/lint/linter.ts'
import type { RepositoryLint } from '#languages/lint/repository-lint.ts'
import { docstringsAt, type FileDocstringFacts } from '#languages/python/docstring-facts.ts'
import type { ModuleTypes } from '#languages/python/module-types.ts'
import type { ModuleUses } from '#languages/python/module-uses.ts'
import { ownModulesIn } from '#languages/python/own-modules.ts'
import { isStub } from '#languages/python/python-file.ts'
import type { RepositoryFacts } from '#languages/python/repository-facts.ts'
import type { SourceFile } from '#stages/discover/choose-files.ts'
import type { LintFault, SurveyPool } from './survey-pool.ts'
import { maxFileBytes, tooLarge } from './survey-other-languages.ts'

export type SurveyedFile = {
  faults: readonly LintFault[]
  docstrings: FileDocstringFacts
  uses: ModuleUses
  types: ModuleTypes | undefined
}

export type PythonInput = {
  /** Is true when an agent asks for the file's faults: only these files are linted. */
  isLinted(path: string): boolean
  read(hash: string): Promise<Uint8Array>
  /** Holds what is known by path of Python files; the others are parsed. */
  facts: ReadonlyMap<string, RepositoryFacts>
  /** Is true when an agent looks for definitions by the types of their parameters. */
  wantsTypes?: boolean
}

type PythonDeps = { surveys: Pick<SurveyPool, 'survey'>; linter: Pick<Linter, 'lack' | 'lint'> }

type Looking = {
  input: PythonInput
  lint: RepositoryLint
  ownModules: ReadonlySet<string>
  notUtf8: Set<string>
  deps: PythonDeps
}

/** A file that cannot be parsed has `namingText` instead of `surveyed`; `notLinted` is why it has no faults. */
type Looked = { surveyed?: SurveyedFile; namingText?: string; notLinted?: string }

/** Finds the faults of a Python file that agents may work on, and what it says about the repository, as far as discovery has not found that. */
export async function surveyFile(
  file: SourceFile,
  { input, lint, ownModules, notUtf8, deps }: Looking,
): Promise<Looked> {
  const { path, hash, size } = file
  const { wantsTypes = false } = input
  if (size > maxFileBytes) return { notLinted: tooLarge }
  // Discovery finds facts of UTF-8 alone.
  const known = input.facts.get(path)
  const rules = lint.rulesFor(path).lint
  const reason = reasonNotToLint(path, rules)
  const isLinted = reason === undefined && input.isLinted(path)
  if (known !== undefined && !isLinted && !wantsTypes)
    return { surveyed: surveyedAt(path, known), ...notLinted(reason) }
  const bytes = Buffer.from(await input.read(hash))
  const isText = isUtf8(bytes)
  if (!isText) notUtf8.add(path)
  // In other encodings only names matter, which are ASCII: they show what the file uses of others.
  const text = bytes.toString(isText ? 'utf8' : 'latin1')
  const linted =
    isLinted && isText
      ? await faultsOf(text, rules, deps)
      : { diagnostics: [], why: reason ?? (isText ? undefined : 'it is not UTF-8') }
  const { diagnostics } = linted
  if (known !== undefined && diagnostics.length === 0 && !wantsTypes) {
    return { surveyed: surveyedAt(path, known), ...notLinted(linted.why) }
  }
  // A text that Ruff cannot handle may still be parsed for what it uses of other files.
  const question = {
    path,
    text,
    ownModules: ownModulesIn(text, ownModules),
    wantsTypes,
    wantsFacts: known === undefined,
  }
  const answer = await deps.surveys.survey({ ...question, diagnostics })
  const isRead = !('unreadable' in answer)
  const facts = known ?? (isRead ? answer.facts : undefined)
  const found = isRead ? { faults: answer.faults, types: answer.types } : {}
  const read = facts === undefined ? { namingText: text } : { surveyed: surveyedAt(path, facts, found) }
  return { ...read, ...notLinted(linted.why ?? (isRead ? undefined : answer.unreadable)) }
}

function surveyedAt(
  path: string,
  { docstrings, uses }: RepositoryFacts,
  found: Partial<Pick<SurveyedFile, 'faults' | 'types'>> = {},
): SurveyedFile {
  return { faults: found.faults ?? [], docstrings: docstringsAt(path, docstrings), uses, types: found.types }
}

function notLinted(reason: string | undefined): Pick<Looked, 'notLinted'> {
  return reason === undefined ? {} : { notLinted: reason }
}

type Linted = { diagnostics: readonly Diagnostic[]; why?: string | undefined }

async function faultsOf(text: string, rules: LintRules, { linter }: PythonDeps): Promise<Linted> {
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
