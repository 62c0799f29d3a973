import type { Event } from '#domain/event.ts'
import type { Violation } from './violation.ts'

export type ModelCallsFold = { take(event: Event): void; violations: readonly Violation[] }

/**
 * Every `model.requested` has one `model.responded`, of the same attempt and before the next request (invariant 3). An
 * attempt that its worker did not end itself (lost, taken back, the run stopped) may lack the last answer: the worker
 * was gone, or its last events were refused.
 */
export function foldModelCalls(): ModelCallsFold {
  const asked = new Map<string, number>()
  const violations: Violation[] = []

  function take(event: Event): void {
    const id = event.operationId
    if (id === undefined) return
    const open = asked.get(id)
    const blame = (what: string) =>
      void violations.push({ invariant: 3, message: `event ${event.seq} ${event.event} of operation ${id}: ${what}` })
    switch (event.event) {
      case 'model.requested':
        if (open !== undefined) blame(`the request of event ${open} was not answered`)
        asked.set(id, event.seq)
        return
      case 'model.responded':
        if (open === undefined) blame('it answers no request')
        asked.delete(id)
        return
      case 'operation.suspended':
        if (open !== undefined) blame(`the request of event ${open} was not answered`)
        asked.delete(id)
        return
      case 'operation.ended':
        if (open !== undefined && isSettled(event)) blame(`the request of event ${open} was not answered`)
        asked.delete(id)
        return
      case 'operation.retried':
        asked.delete(id)
        return
      default:
    }
  }

  return { take, violations }
}

/** A worker that settles its attempt says how many turns it took; the ledger, which ends it otherwise, does not know. */
function isSettled(event: Event): boolean {
  return event.data['turns'] !== undefined
}
