import type { ComparedFacts, Finding } from './python-facts.ts'
import type { Statement, StatementList } from './statements.ts'

/**
 * No function, class, branch, loop, handler or `with` was removed or emptied, and no statement went from one body to
 * another. A body is empty when nothing in it does anything: `pass`, `...`, a docstring.
 */
export function bodiesKept({ before, after, pairs }: ComparedFacts): Finding {
  const [was, now] = [before.list(), after.list()]
  const { forward } = pairs()
  const figures = { before: headsIn(was), after: headsIn(now) }
  for (const [at, statement] of was.statements.entries()) {
    const counterpart = now.statements[forward[at] ?? -1]
    const problem = problemOf(statement, counterpart, forward)
    if (problem !== undefined) {
      return { ...figures, fault: `line ${statement.row + 1}: ${JSON.stringify(headline(statement))} ${problem}` }
    }
  }
  return { ...figures, fault: undefined }
}

function headsIn({ statements }: StatementList): number {
  return statements.filter(({ isHead }) => isHead).length
}

function problemOf(was: Statement, now: Statement | undefined, forward: Int32Array): string | undefined {
  if (now === undefined) return was.isHead ? 'is gone' : undefined
  if (was.isHead && was.doesSomething && !now.doesSomething) return 'has lost its body'
  const owner = was.owner < 0 ? -1 : forward[was.owner]
  return owner === now.owner ? undefined : 'stands in another body now'
}

function headline({ tokens }: Statement): string {
  const text = tokens.map((token) => token.text).join(' ')
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
