import type { CheckResult } from './python-facts.ts'

/** A doc comment or docstring of a file; `fault`: how the parameters in it differ from those of its definition. */
export type DocumentedDefinition = {
  line: number
  content: string
  fault: string | undefined
  empty: string | undefined
}

/**
 * Holds each docstring that the change writes: to exactly the parameters of the signature, in its order, or none of them; or to
 * something that the signature does not say.
 */
export function documentedAs(
  check: 'parameters_documented' | 'says_something',
  before: readonly DocumentedDefinition[],
  after: readonly DocumentedDefinition[],
): CheckResult {
  const faultOf = ({ fault, empty }: DocumentedDefinition) => (check === 'says_something' ? empty : fault)
  const left = Map.groupBy(before, ({ content }) => content)
  const written = after.filter(({ content }) => left.get(content)?.pop() === undefined)
  const wrong = written.find((doc) => faultOf(doc) !== undefined)
  return { after: written.length, fault: wrong && `line ${wrong.line}: ${faultOf(wrong) ?? ''}` }
}
