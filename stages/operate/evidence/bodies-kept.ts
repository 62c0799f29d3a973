import type { ComparedStatements, CheckResult } from './python-facts.ts'
import type { Statement, StatementList } from './statements.ts'

/** Finds heads removed or emptied, statements moved to another body, and ones reduced to an unused value (`x = []` to `[]`). */
export function bodiesKept({ before, after, pairs }: ComparedStatements): CheckResult {
  const [was, now] = [before.list(), after.list()]
  const { forward, back } = pairs()
  const figures = { before: headsIn(was), after: headsIn(now) }
  for (const [at, statement] of was.statements.entries()) {
    const counterpart = now.statements[forward[at] ?? -1]
    const problem = problemOf(statement, counterpart, forward)
    if (problem !== undefined) return { ...figures, fault: faultOf(statement, problem) }
  }
  const idle = now.statements.find((statement, at) => {
    const counterpart = was.statements[back[at] ?? -1]
    return (
      counterpart?.key !== statement.key && isIdle(statement) && (counterpart === undefined || !isIdle(counterpart))
    )
  })
  return { ...figures, fault: idle && faultOf(idle, 'does nothing') }
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

/** Names, numbers and comparisons. Code with brackets or dots may have an effect: a call, a missing key, a property. */
const valueToken = /^(?:(?!await$|yield$)[A-Za-z_]\w*|\d[\w.]*|[<>]=?|[=!]=)$/

function isIdle({ kind, doesSomething, tokens }: Statement): boolean {
  if (kind !== 'expression_statement') return false
  if (doesSomething) return tokens.every(({ text }) => valueToken.test(text))
  return !tokens.every(({ text }) => /["']$|^[().]/.test(text))
}

function faultOf({ row, tokens }: Statement, problem: string): string {
  const text = tokens.map((token) => token.text).join(' ')
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text
  return `line ${row + 1}: ${JSON.stringify(shown)} ${problem}`
}
