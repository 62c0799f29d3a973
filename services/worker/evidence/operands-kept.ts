import type { Operand, Operation } from './operations.ts'
import type { ComparedStatements, Finding } from './python-facts.ts'
import type { Statement } from './statements.ts'

/**
 * No comparison has its operands swapped (`1 == x` for `x == 1`), which changes whose `__eq__` runs, and no `and` or
 * `or` evaluates them in another order. An edited operand is recognized by the tokens that it shares with the original.
 */
export function operandsKept({ before, after, pairs }: ComparedStatements): Finding {
  const [was, now] = [before.list().statements, after.list().statements]
  const { forward } = pairs()
  const figures = { before: operationsIn(was), after: operationsIn(now) }
  for (const [at, statement] of was.entries()) {
    const counterpart = now[forward[at] ?? -1]
    // An unchanged statement is read once and has the same list.
    if (counterpart === undefined || counterpart.operations === statement.operations) continue
    const swapped = swappedIn(statement.operations, counterpart.operations)
    if (swapped !== undefined) return { ...figures, fault: `line ${statement.row + 1}: ${faultOf(swapped)}` }
  }
  const moved = swappedElsewhere(was, now)
  return { ...figures, fault: moved && faultOf(moved) }
}

function operationsIn(statements: readonly Statement[]): number {
  return statements.reduce((sum, { operations }) => sum + operations.length, 0)
}

/** Within one statement: compares each operation with its counterpart, if there are as many of its kind. */
function swappedIn(was: readonly Operation[], now: readonly Operation[]): Operation | undefined {
  for (const kind of ['comparison', 'and', 'or'] as const) {
    const [before, after] = [was, now].map((all) => all.filter((one) => one.kind === kind))
    if (before === undefined || after === undefined || before.length !== after.length) continue
    const swapped = before.find(({ operands }, at) => isReordered(operands, after[at]?.operands ?? []))
    if (swapped !== undefined) return swapped
  }
  return undefined
}

/** In a longer chain only the order of the unchanged operands is compared. */
const maxCompared = 40

function isReordered(before: readonly Operand[], after: readonly Operand[]): boolean {
  if (before.length <= maxCompared) return isSwapped(before, after)
  const places = new Map(after.map((operand, at) => [operand.join(' '), at]))
  const left = before.flatMap((operand) => places.get(operand.join(' ')) ?? [])
  return left.some((place, at) => place < (left[at - 1] ?? 0))
}

/** Whether two operands are more like each other's counterpart than like their own. */
function isSwapped(before: readonly Operand[], after: readonly Operand[]): boolean {
  return before.some((one, at) =>
    before.some((other, place) => {
      const [own, others] = [after[at], after[place]]
      if (place <= at || own === undefined || others === undefined) return false
      return likeness(one, others) + likeness(other, own) > likeness(one, own) + likeness(other, others)
    }),
  )
}

function likeness(one: Operand, other: Operand): number {
  if (one.join(' ') === other.join(' ')) return 2
  const left = Map.groupBy(other, (token) => token)
  const shared = one.filter((token) => left.get(token)?.pop() !== undefined)
  return (2 * shared.length) / (one.length + other.length)
}

/** Between statements: an operation that was removed while one with two of its operands exchanged was added. */
function swappedElsewhere(was: readonly Statement[], now: readonly Statement[]): Operation | undefined {
  const before = was.flatMap(({ operations }) => operations)
  const left = Map.groupBy(before, keyOf)
  const keys = now.flatMap(({ operations }) => operations.map(keyOf))
  const fresh = new Set(keys.filter((key) => left.get(key)?.pop() === undefined))
  if (fresh.size === 0) return undefined
  const isRemoved = (one: Operation) => (left.get(keyOf(one)) ?? []).length > 0
  return before.find((one) => isRemoved(one) && ordersOf(one).some((order) => fresh.has(order)))
}

/** The keys of all exchanges of two operands; none for a long chain. */
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

function faultOf({ kind, operands }: Operation): string {
  const texts = operands.map((operand) => operand.join(' '))
  const shown = texts.join(kind === 'comparison' ? ' … ' : ` ${kind} `).slice(0, 80)
  return `the operands of ${JSON.stringify(shown)} are swapped`
}
