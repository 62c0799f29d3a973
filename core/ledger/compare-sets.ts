import { isEndedOperation, type OperationStatus } from '#domain/operation.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { transientSets, type AccountSet, type OperationAccount } from './read-accounts.ts'
import type { Violation } from './violation.ts'

/**
 * Where the sets and the operations' statuses differ (invariant 2). What an ended run has left in the sets of what is to
 * be done is invariant 8, which leftovers.ts tells.
 */
export function compareSets(
  run: Pick<Run, 'status'>,
  accounts: ReadonlyMap<string, OperationAccount>,
  sets: ReadonlyMap<AccountSet, ReadonlySet<string>>,
): Violation[] {
  const ignored: readonly AccountSet[] = isEnded(run.status) ? transientSets : []
  const names = [...sets.keys()].filter((name) => !ignored.includes(name))
  const faults: string[] = []
  for (const [id, { status }] of accounts) {
    const due = setsOf(status)
    const held = names.filter((name) => sets.get(name)?.has(id))
    const wrong = held.filter((name) => !due.includes(name))
    if (wrong.length > 0) faults.push(`operation ${id} is ${status} and in the set ${wrong.join(' and ')}`)
    const right = held.length - wrong.length
    if (right > 1) faults.push(`operation ${id} is ${status} and in more than one of the sets ${due.join(', ')}`)
    const isDue = due.some((name) => names.includes(name))
    if (isDue && right === 0) faults.push(`operation ${id} is ${status} and not in the set ${due.join(' or ')}`)
  }
  for (const name of names) {
    const strangers = [...(sets.get(name) ?? [])].filter((id) => !accounts.has(id))
    for (const id of strangers) faults.push(`the set ${name} has ${id}, which was never planned`)
  }
  return faults.map((message) => ({ invariant: 2, message }))
}

/** An operation of a status is in exactly one of these sets, and in no other. */
function setsOf(status: OperationStatus): readonly AccountSet[] {
  if (status === 'ready') return ['ready', 'delayed', 'suspects']
  if (status === 'dispatched') return ['dispatched']
  if (status === 'running') return ['leases']
  if (status === 'waiting') return ['waiting']
  return isEndedOperation(status) ? ['ended'] : []
}
