import type { Evaluation } from './evaluations.ts'
import type { Operand, Operation } from './operations.ts'
import { type ComparedStatements, type CheckResult, once } from './python-facts.ts'
import type { Statement } from './statements.ts'

/**
 * No comparison has its operands swapped (`1 == x` for `x == 1`), which changes whose `__eq__` runs, and no `and` or
 * `or` evaluates them in another order. An edited operand is recognized by the tokens that it shares with the original. The
 * calls, attributes and items that a statement has before and after are evaluated in the same order, and none more often; a
 * call not less often either. A call that is gone has been replaced: by another call, in another statement that changed, or by an
 * expression of the language for what it did (`list(x)`, `"{}".format(x)`, `raise A()`). An attribute or an item may go. Statements
 * of one body that call something, and decorators, keep their order where they stay as they are; a statement that goes altogether is
 * no matter of this check.
 */
export function operandsKept({ before, after, pairs }: ComparedStatements): CheckResult {
  const [was, now] = [before.list().statements, after.list().statements]
  const { forward, back } = pairs()
  const figures = { before: operationsIn(was), after: operationsIn(now) }
  const isChanged = (statement: Statement, at: number) => was[back[at] ?? -1]?.key !== statement.key
  const moved = once(
    () => new Set(now.filter(isChanged).flatMap((statement) => after.evaluations(statement).map(({ code }) => code))),
  )
  for (const [at, statement] of was.entries()) {
    const counterpart = now[forward[at] ?? -1]
    if (counterpart === undefined || counterpart.key === statement.key) continue
    const swapped = swappedIn(statement.operations, counterpart.operations)
    const evaluated = { before: before.evaluations(statement), after: after.evaluations(counterpart) }
    const lost = () => lostCall(evaluated, counterpart, moved)
    const fault = swapped === undefined ? (evaluationFault(evaluated) ?? lost()) : faultOf(swapped)
    if (fault !== undefined) return { ...figures, fault: `line ${statement.row + 1}: ${fault}` }
  }
  const swapped = swappedElsewhere(was, now)
  return { ...figures, fault: swapped === undefined ? reorderedStatement(was, now) : faultOf(swapped) }
}

function operationsIn(statements: readonly Statement[]): number {
  return statements.reduce((sum, { operations }) => sum + operations.length, 0)
}

/** Compares, within one statement, each operation with its counterpart, if there are as many of its kind. */
function swappedIn(was: readonly Operation[], now: readonly Operation[]): Operation | undefined {
  for (const kind of ['comparison', 'and', 'or'] as const) {
    const [before, after] = [was, now].map((all) => all.filter((operation) => operation.kind === kind))
    if (before === undefined || after === undefined || before.length !== after.length) continue
    const swapped = before.find(({ operands }, at) => isReordered(operands, after[at]?.operands ?? []))
    if (swapped !== undefined) return swapped
  }
  return undefined
}

/** Limits the comparison of all operands: in a longer chain only the order of the unchanged ones is compared. */
const maxCompared = 40

function isReordered(before: readonly Operand[], after: readonly Operand[]): boolean {
  if (before.length <= maxCompared) return isSwapped(before, after)
  const places = new Map(after.map((operand, at) => [operand.join(' '), at]))
  const left = before.flatMap((operand) => places.get(operand.join(' ')) ?? [])
  return left.some((index, at) => index < (left[at - 1] ?? 0))
}

/** Tells whether two operands are more like each other's counterpart than like their own. */
function isSwapped(before: readonly Operand[], after: readonly Operand[]): boolean {
  return before.some((one, at) =>
    before.some((other, place) => {
      const [own, others] = [after[at], after[place]]
      if (place <= at || own === undefined || others === undefined) return false
      return likeness(one, others) + likeness(other, own) > likeness(one, own) + likeness(other, others)
    }),
  )
}

function likeness(before: Operand, after: Operand): number {
  if (before.join(' ') === after.join(' ')) return 2
  const left = Map.groupBy(after, (token) => token)
  const shared = before.filter((token) => left.get(token)?.pop() !== undefined)
  return (2 * shared.length) / (before.length + after.length)
}

/** Finds, between statements, an operation that was removed while one with two of its operands exchanged was added. */
function swappedElsewhere(was: readonly Statement[], now: readonly Statement[]): Operation | undefined {
  const before = was.flatMap(({ operations }) => operations)
  const left = Map.groupBy(before, keyOf)
  const keys = now.flatMap(({ operations }) => operations.map(keyOf))
  const fresh = new Set(keys.filter((key) => left.get(key)?.pop() === undefined))
  if (fresh.size === 0) return undefined
  const isRemoved = (operation: Operation) => (left.get(keyOf(operation)) ?? []).length > 0
  return before.find((operation) => isRemoved(operation) && ordersOf(operation).some((order) => fresh.has(order)))
}

function ordersOf({ kind, operands }: Operation): string[] {
  if (operands.length > maxCompared) return []
  return operands.flatMap((one, at) =>
    operands.flatMap((other, place) => {
      if (place <= at) return []
      const order = operands.map((operand, index) => (index === at ? other : index === place ? one : operand))
      return [keyOf({ kind, operands: order })]
    }),
  )
}

function keyOf({ kind, operands }: Operation): string {
  return [kind, ...operands.map((operand) => operand.join(' '))].join('\0')
}

type Evaluated = { before: readonly Evaluation[]; after: readonly Evaluation[] }

function evaluationFault({ before, after }: Evaluated): string | undefined {
  const now = Map.groupBy(after, ({ code }) => code)
  const kept = new Set<string>()
  for (const [code, all] of Map.groupBy(before, (evaluation) => evaluation.code)) {
    const there = now.get(code) ?? []
    if (there.length > all.length) return `${shown(code)} is evaluated more often`
    if (there.length === all.length) kept.add(code)
    else if (there.length > 0 && all[0]?.called !== undefined) return `${shown(code)} is evaluated less often`
  }
  for (const isLater of [false, true]) {
    const inOrder = (all: readonly Evaluation[]) =>
      all.flatMap(({ code, isDeferred }) => (isDeferred === isLater && kept.has(code) ? [code] : []))
    const [was, is] = [inOrder(before), inOrder(after)]
    const moved = was.length === is.length ? was.find((code, at) => is[at] !== code) : undefined
    if (moved !== undefined) return `${shown(moved)} is evaluated in another order`
  }
  return undefined
}

/** Python and JavaScript have an expression, or a shorter call, for each of these. */
const replaceable = new Set(
  (
    'str repr ascii int float complex bool bytes list tuple set frozenset dict type super getattr setattr delattr hasattr len ' +
    'isinstance issubclass startswith endswith min max any all map filter range iter next zip enumerate sorted reversed format join ' +
    'encode decode get keys items values has_key fromkeys update append extend lru_cache open cast pow ' +
    'Array Object String Number Boolean RegExp concat apply call bind assign hasOwnProperty indexOf charAt slice substr ' +
    'substring resolve'
  ).split(' '),
)

/** Names a call that nothing stands for any more. A statement that does nothing, or does not parse, is a matter of other checks. */
function lostCall({ before, after }: Evaluated, now: Statement, moved: () => ReadonlySet<string>): string | undefined {
  if (!(now.doesSomething || now.isHead) || now.kind === 'ERROR') return undefined
  const [had, has] = [before, after].map((all) => new Set(all.map(({ code }) => code)))
  const fresh = after.filter(({ code, called }) => called !== undefined && had?.has(code) === false)
  const gone = before.filter(({ code, called }) => called !== undefined && has?.has(code) === false)
  const take = (at: number) => at >= 0 && fresh.splice(at, 1).length > 0
  const unlike = gone.filter(({ called }) => !take(fresh.findIndex((evaluation) => evaluation.called === called)))
  const lost = unlike.find((evaluation) => !isExpressed(evaluation, now) && !take(0) && !moved().has(evaluation.code))
  return lost && `${shown(lost.code)} is not called any more`
}

/** Tells whether a statement has an expression for a call: all that the call was given stands in it. */
function isExpressed({ called = '', code }: Evaluation, { kind, key }: Statement): boolean {
  const words = new Set(key.match(/\w+/g))
  const isSaid = (text: string) => (text.match(/\w+/g) ?? []).every((word) => words.has(word) || word === 'lambda')
  const isBare = (kind === 'raise_statement' || kind === 'decorator') && code.endsWith('( )')
  const isReplaceable = replaceable.has(called) || /^assert[A-Z_]/.test(called)
  return (isBare && isSaid(code)) || (isReplaceable && isSaid(code.slice(code.indexOf('('))))
}

/** A statement that calls something, or a decorator, behind which another of the same body stood before, in words. */
function reorderedStatement(was: readonly Statement[], now: readonly Statement[]): string | undefined {
  const [before, after] = [was, now].map((all) => Map.groupBy(all.entries(), ([, { key }]) => key))
  let last: { owner: number; place: number } | undefined
  for (const statement of was) {
    const { key, owner, kind, isHead } = statement
    if (isHead || (kind !== 'decorator' && !calls(statement))) continue
    const [there, ...more] = after?.get(key) ?? []
    if (there === undefined || more.length > 0 || before?.get(key)?.length !== 1) continue
    const [place, one] = there
    const isBehind =
      last === undefined || last.place < place || last.owner !== owner || now[last.place]?.owner !== one.owner
    if (!isBehind) return `line ${statement.row + 1}: ${shown(codeOf(statement))} is evaluated in another order`
    last = { owner, place }
  }
  return undefined
}

function calls({ kind, tokens }: Statement): boolean {
  return !kind.includes('import') && tokens.some(({ text }) => text === '(')
}

function codeOf({ tokens }: Statement): string {
  return tokens.map(({ text }) => text).join(' ')
}

const shown = (code: string) => JSON.stringify(code.slice(0, 80))

function faultOf({ kind, operands }: Operation): string {
  const texts = operands.map((operand) => operand.join(' '))
  return `the operands of ${shown(texts.join(kind === 'comparison' ? ' … ' : ` ${kind} `))} are swapped`
}
