import { NoAnswer, RemoraProblem } from '#client/connection.ts'
import type { EvidenceCheck } from '#domain/checks.ts'
import type { z } from 'zod'
import type { ChangeView, EvidenceView } from '#schemas/change-schema.ts'
import type { DecisionView } from '#schemas/decision-schema.ts'

export type Evidence = z.infer<typeof EvidenceView>

/** Says what each check proves: first when it holds, then when it does not. */
const checks: Readonly<Record<EvidenceCheck, readonly [holds: string, fails: string]>> = {
  parses: ['No new syntax error', 'Has a new syntax error'],
  lint_before_after: ['No new lint finding', 'The linter finds something new'],
  comments_kept: ['Every comment is where it was', 'A comment is gone or has moved'],
  names_kept: ['Names that other code uses are kept', 'A name that other code may use is gone'],
  needed_imports_kept: ['Needed imports are kept', 'An import that is needed is gone'],
  line_length: ['No new line is too long', 'A new line is too long'],
  bodies_kept: ['No function, branch or loop is gone', 'A function, branch or loop is gone or empty'],
  operands_kept: ['Compares, asks and calls the same as before', 'Compares, asks or calls something else than before'],
  docstring_only: ['Only documentation has changed', 'More than documentation has changed'],
  parameters_documented: ['Names exactly the parameters that there are', 'Names other parameters than there are'],
  only_node_changed: [
    'Nothing outside of the definition has changed',
    'Something outside of the definition has changed',
  ],
  samples_match: ['The types fit the samples', 'The types do not fit the samples'],
  says_something: ['Says more than the names do', 'Says no more than the names do'],
  tests_collected: ['The test runner finds the tests', 'The test runner does not find the tests'],
  tests_pass: ['The tests pass, run several times', 'The tests do not pass each time'],
  tests_kill_mutants: ['The tests notice planted faults', 'The tests notice no planted fault'],
}

export type ProofState = 'passed' | 'failed' | 'unchecked'
export type CheckState = 'holds' | 'fails' | 'not_checked' | 'not_applicable'

export function stateOfCheck({ check, ok }: Evidence): CheckState {
  if (!ok) return 'fails'
  return check === 'not_checked' || check === 'not_applicable' ? check : 'holds'
}

/** Says in a few words what a check has found. A check of a newer service is called by its name. */
export function checkWords(evidence: Evidence): string {
  const { check, of } = evidence
  const name = check === 'not_checked' || check === 'not_applicable' ? of : check
  if (name === undefined) return 'A check'
  const [holds, fails] = checks[name] ?? [`${name} holds`, `${name} fails`]
  return stateOfCheck(evidence) === 'fails' ? fails : holds
}

/** Sums up the evidence of a change as the service's filter `evidence` does: a file without a check that was made is not proved. */
export function proofOf({ evidence }: Pick<ChangeView, 'evidence'>): ProofState {
  const states = evidence.map((proof) => [stateOfCheck(proof), proof.path] as const)
  if (states.some(([state]) => state === 'fails')) return 'failed'
  const proved = new Set(states.flatMap(([state, path]) => (state === 'holds' ? [path] : [])))
  const isUnproved = states.some(([state, path]) => state === 'not_checked' || !proved.has(path))
  return states.length === 0 || isUnproved ? 'unchecked' : 'passed'
}

/** Says why a request came to nothing. */
export function faultWords(error: unknown): string {
  if (error instanceof RemoraProblem) return `${error.code}: ${error.message}`
  if (error instanceof NoAnswer) return `The service does not answer: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}

type Named = {
  agent?: string | undefined
  path?: string | undefined
  qualified_name?: string | undefined
  rules?: readonly string[]
}

/** Names a change as it is shown: `docstring shop/stock.py Stock.add (F401)`. */
export function nameOfChange(change: Named): string {
  const { agent, path, qualified_name: name, rules = [] } = change
  const place = name === undefined || name === path ? path : `${path} ${name}`
  const all = [agent, place, rules.length > 0 ? `(${rules.join(', ')})` : undefined]
  return all.filter((part) => part !== undefined && part !== '').join(' ')
}

/** Names who has decided, as it is shown; `me` is the token of this page. */
export function deciderOf(
  { decided_by: by, decided_by_name: name }: Pick<DecisionView, 'decided_by' | 'decided_by_name'>,
  me: string,
): string {
  if (by === `human/${me}`) return 'you'
  if (by === 'policy/auto') return 'the policy of the run'
  return name ?? by.replace(/^human\//, '')
}

/** Says why a change is not in the proposed patch. */
export function leftOutWords({ error_code: code, by_itself: byItself, with: other }: LeftOut): string {
  if (code === 'WORK_001')
    return other === undefined ? 'It collides with another change' : 'It collides with another change of the same lines'
  if (code === 'WORK_002') return 'What it is built on is not in the patch'
  if (code === 'WORK_007')
    return byItself
      ? 'A test of the repository fails with it'
      : 'A test of the repository fails with it and other changes'
  return byItself ? 'It breaks the file' : 'Together with other changes it breaks the file'
}
type LeftOut = NonNullable<ChangeView['conflict']>
