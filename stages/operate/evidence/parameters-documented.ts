import type { CheckResult } from './python-facts.ts'

/** A doc comment or docstring of a file; `fault`: how the parameters in it differ from those of its definition. */
export type DocumentedDefinition = {
  line: number
  content: string
  fault: string | undefined
  empty: string | undefined
}

/** Holds each docstring that is written to the signature: exactly its parameters, in its order, or none. */
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
