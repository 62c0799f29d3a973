import type { CheckResult } from './python-facts.ts'

/** A doc comment or docstring of a file; `fault`: how the parameters in it differ from those of its definition. */
export type DocumentedDefinition = {
  line: number
  content: string
  fault: string | undefined
  /** Says why the comment tells nothing. */
  empty: string | undefined
}

/**
 * Each docstring that the change writes or rewrites describes exactly the parameters that the signature has, in its order. One
 * that describes none makes no claim, as in a style without sections.
 */
export function parametersDocumented(
  before: readonly DocumentedDefinition[],
  after: readonly DocumentedDefinition[],
): CheckResult {
  return resultIn(before, after, ({ fault }) => fault)
}

/** Each docstring that the change writes or rewrites says something that the signature does not say. */
export function saysSomething(
  before: readonly DocumentedDefinition[],
  after: readonly DocumentedDefinition[],
): CheckResult {
  return resultIn(before, after, ({ empty }) => empty)
}

function resultIn(
  before: readonly DocumentedDefinition[],
  after: readonly DocumentedDefinition[],
  faultOf: (doc: DocumentedDefinition) => string | undefined,
): CheckResult {
  const left = Map.groupBy(before, ({ content }) => content)
  const written = after.filter(({ content }) => left.get(content)?.pop() === undefined)
  const wrong = written.find((doc) => faultOf(doc) !== undefined)
  return { after: written.length, fault: wrong && `line ${wrong.line}: ${faultOf(wrong) ?? ''}` }
}
