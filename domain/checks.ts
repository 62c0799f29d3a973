import { z } from 'zod'

const tested = ['python', 'javascript', 'typescript', 'tsx'] as const
const linted = [...tested, 'go'] as const
const documented = [...linted, 'rust', 'java'] as const
/** These languages have a grammar, but no names, imports or bodies. */
const dataLanguages: ReadonlySet<string> = new Set(['json', 'markdown', 'toml', 'yaml'])

type CheckRow = {
  check: string
  of: {
    /**
     * `harmless`: every harmless change passes it, whatever its purpose. `worth`: it says whether a change is worth accepting; one that
     * fails it is proposed all the same, and only a person accepts it. `purpose`: what a bundle promises besides.
     */
    proof: 'harmless' | 'purpose' | 'worth'
    /** `tests`: it runs them, so it needs a sandbox, and the files as its operation has them. */
    reads: 'text' | 'lint' | 'edits' | 'other files' | 'tests'
    /** `code`: all with a grammar but those of data. A check is not applicable to a file of another language. */
    languages: 'any' | 'grammar' | 'code' | readonly string[]
  }
  proves: string
}

/** Lists the checks that a bundle may ask for. Schemas, the reference and texts follow from it; stages/operate/evidence has their functions. */
export const checkRows = [
  {
    check: 'parses',
    of: { proof: 'harmless', reads: 'text', languages: 'grammar' },
    proves: 'no new syntax error',
  },
  {
    check: 'lint_before_after',
    of: { proof: 'harmless', reads: 'lint', languages: linted },
    proves: "no new finding by the repository's lint rules",
  },
  {
    check: 'comments_kept',
    of: { proof: 'harmless', reads: 'text', languages: 'grammar' },
    proves: 'every comment is where it was',
  },
  {
    check: 'names_kept',
    of: { proof: 'harmless', reads: 'text', languages: 'code' },
    proves: 'no name that other code may use is gone',
  },
  {
    check: 'needed_imports_kept',
    of: { proof: 'harmless', reads: 'text', languages: 'code' },
    proves: 'no import that is needed is gone',
  },
  {
    check: 'line_length',
    of: { proof: 'harmless', reads: 'text', languages: 'code' },
    proves: 'no new line is too long',
  },
  {
    check: 'bodies_kept',
    of: { proof: 'harmless', reads: 'text', languages: 'code' },
    proves: 'no function, branch or loop is gone or empty',
  },
  {
    check: 'operands_kept',
    of: { proof: 'harmless', reads: 'text', languages: 'code' },
    proves:
      'what is compared, asked and called within a statement is so in the same order, none more often, and no call is gone without a replacement',
  },
  {
    check: 'docstring_only',
    of: { proof: 'purpose', reads: 'text', languages: 'grammar' },
    proves: 'nothing but documentation has changed',
  },
  {
    check: 'parameters_documented',
    of: { proof: 'purpose', reads: 'text', languages: documented },
    proves: 'new documentation that names parameters names exactly those that there are',
  },
  {
    check: 'only_node_changed',
    of: { proof: 'purpose', reads: 'edits', languages: 'any' },
    proves: 'nothing has changed outside of the definition',
  },
  {
    check: 'samples_match',
    of: { proof: 'purpose', reads: 'other files', languages: 'any' },
    proves: 'the types of the code accept and refuse the samples as these say',
  },
  {
    check: 'says_something',
    of: { proof: 'worth', reads: 'text', languages: documented },
    proves: 'new documentation says more than the names that it is about',
  },
  {
    check: 'tests_collected',
    of: { proof: 'purpose', reads: 'tests', languages: tested },
    proves: 'the test runner finds the tests',
  },
  {
    check: 'tests_pass',
    of: { proof: 'purpose', reads: 'tests', languages: tested },
    proves: 'the tests pass on each of several runs',
  },
  {
    check: 'tests_kill_mutants',
    of: { proof: 'purpose', reads: 'tests', languages: tested },
    proves: 'the tests notice at least one planted fault',
  },
] as const satisfies readonly CheckRow[]

type Row = (typeof checkRows)[number]
type Reads = Row['of']['reads']
export type CheckOf<Kind extends Reads> = Extract<Row, { of: { reads: Kind } }>['check']
export type TestCheck = CheckOf<'tests'>
export type TextCheck = CheckOf<Exclude<Reads, 'tests'>>

export const evidenceChecks = checkRows.map(({ check }) => check)
export const EvidenceCheck = z.enum(evidenceChecks)
export type EvidenceCheck = z.infer<typeof EvidenceCheck>

export const changeChecks = checkRows
  .filter((row): row is Extract<Row, { of: { proof: 'harmless' } }> => row.of.proof === 'harmless')
  .map(({ check }) => check)
export const testChecks = evidenceChecks.filter(isTestCheck)

const rowByName: ReadonlyMap<string, CheckRow['of']> = new Map(checkRows.map(({ check, of }) => [check, of]))

export function checkRow(check: EvidenceCheck): CheckRow['of'] {
  const row = rowByName.get(check)
  if (row === undefined) throw new TypeError(`there is no check ${check}`)
  return row
}

export function isTestCheck(check: string): check is TestCheck {
  return checkRows.some((row) => row.check === check && row.of.reads === 'tests')
}

export function isTextCheck(check: string): check is TextCheck {
  return checkRows.some((row) => row.check === check && row.of.reads !== 'tests')
}

/** Tells whether the check can say anything about a file of that language; undefined stands for a file without a grammar. */
export function appliesTo(check: EvidenceCheck, language: string | undefined): boolean {
  const { languages } = checkRow(check)
  if (languages === 'any') return true
  if (language === undefined) return false
  if (languages === 'grammar') return true
  return languages === 'code' ? !dataLanguages.has(language) : languages.includes(language)
}
