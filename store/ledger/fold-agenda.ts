import { z } from 'zod'
import { ItemId, type ItemState } from '#domain/agenda.ts'
import type { Event } from '#domain/event.ts'
import { type EndedOperationStatus, endedOperationStatuses, isEndedOperation } from '#domain/operation.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { OperationAccount, Violation } from './accounts.ts'
import type { AgendaView } from './agenda.ts'

const Status = z.enum(endedOperationStatuses)
const Items = z.array(z.object({ item_id: ItemId })).default([])
const DecidedData = z.object({ kind: z.string().default('plan'), items: Items })
const OfItem = z.object({ item_id: ItemId })
const StartedData = OfItem.extend({ operations: z.int(), generation: z.int() })
const EndedData = StartedData.omit({ generation: true }).extend({
  counts: z.record(z.string(), z.int()),
  change_sets: z.int(),
  findings: z.int(),
})
const OperationData = z.object({
  item_id: ItemId.optional(),
  status: Status,
  change_set_id: z.string().optional(),
  change_set_ids: z.array(z.string()).optional(),
  findings: z.int().default(0),
})

/** What an item has come to since it was dispatched last, by the events. */
type Folded = {
  operations: number
  generation: number
  ended: Map<EndedOperationStatus, number>
  changeSets: number
  findings: number
  isOpen: boolean
}

/** These decisions are counted in the agenda; one to block is only where there is a plan. */
const counted = new Set(['dispatch', 'retry', 'follow_up', 'complete'])

/**
 * Follows the items of an agenda: each begins with `item.started`, and ends once, when all of its operations have (invariant 3); the agenda has the items
 * and the decisions that the events tell of, and counts of each what its operations came to (invariant 2).
 */
export function foldAgenda() {
  const items = new Map<ItemId, Folded>()
  const named = new Set<ItemId>()
  let [decisions, isPlanned, isRefined] = [0, false, false]
  const faults: string[] = []
  const openItem = (id: ItemId) => {
    const item = items.get(id)
    return item?.isOpen === true ? item : undefined
  }

  function take(event: Event): void {
    const { data, seq } = event
    const blame = (what: string) => void faults.push(`event ${seq} ${event.event}: ${what}`)
    switch (event.event) {
      case 'agenda.decided':
      case 'objective.refined':
      case 'conductor.decided': {
        const { kind, items: decided } = DecidedData.parse(data)
        for (const { item_id: id } of decided) named.add(id)
        if (event.event === 'objective.refined') isRefined = true
        if (event.event === 'agenda.decided' && isPlanned) blame('there was an agenda before')
        if (event.event === 'conductor.decided' && (counted.has(kind) || (kind === 'block' && isPlanned)))
          decisions += 1
        if (event.event === 'agenda.decided') isPlanned = true
        return
      }
      case 'item.started': {
        const { item_id: id, operations, generation } = StartedData.parse(data)
        if (openItem(id) !== undefined) blame(`item ${id} had not ended`)
        const none = { ended: new Map(), changeSets: 0, findings: 0, isOpen: true }
        items.set(id, { operations, generation, ...none })
        return
      }
      case 'operation.ended':
      case 'operation.skipped':
        return count(OperationData.parse(data), blame)
      case 'item.ended':
        return end(EndedData.parse(data), blame)
      case 'item.blocked': {
        const item = openItem(OfItem.parse(data).item_id)
        if (item !== undefined) item.isOpen = false
        return
      }
      default:
    }
  }

  function count(data: z.infer<typeof OperationData>, blame: (what: string) => void): void {
    if (data.item_id === undefined) return
    const item = openItem(data.item_id)
    if (item === undefined) return blame(`item ${data.item_id}, which it is of, was not under way`)
    const { change_set_id: set, change_set_ids: sets = set === undefined ? [] : [set] } = data
    item.ended.set(data.status, (item.ended.get(data.status) ?? 0) + 1)
    item.changeSets += sets.length
    item.findings += data.findings
  }

  function end(data: z.infer<typeof EndedData>, blame: (what: string) => void): void {
    const item = openItem(data.item_id)
    if (item === undefined) return blame(`item ${data.item_id} was not under way`)
    item.isOpen = false
    const told = `${countsText((status) => data.counts[status] ?? 0)}, ${data.change_sets} sets, ${data.findings} findings`
    const found = `${countsText((status) => item.ended.get(status) ?? 0)}, ${item.changeSets} sets, ${item.findings} findings`
    if (told !== found) blame(`item ${data.item_id} has ended with ${told}; its operations with ${found}`)
    const all = sumOf(item)
    if (all !== item.operations)
      blame(`item ${data.item_id} has ${item.operations} operations, of which ${all} have ended`)
  }

  function violations(run: Run, accounts: Accounts, agenda: AgendaView | undefined): Violation[] {
    const lasting = [...items].flatMap(([id, item]) => {
      if (!item.isOpen || (!isEnded(run.status) && sumOf(item) < item.operations)) return []
      const isStopped = run.status === 'cancelled' || run.status === 'failed'
      return isStopped && sumOf(item) < item.operations ? [] : [`item ${id} has not ended, all of its operations have`]
    })
    const stored = agenda === undefined ? [] : [...agendaFaults(agenda), ...countFaults(agenda, accounts)]
    return [
      ...[...faults, ...lasting].map((message): Violation => ({ invariant: 3, message })),
      ...stored.map((message): Violation => ({ invariant: 2, message })),
    ]
  }

  function agendaFaults({ state }: AgendaView): string[] {
    const has = new Set(state.items.map((item: ItemState) => item.item_id))
    const strange = [...has].filter((id) => !named.has(id)).map((id) => `the agenda has item ${id}, no decision has`)
    const lost = isRefined ? [] : [...named].filter((id) => !has.has(id)).map((id) => `the agenda lacks item ${id}`)
    const isCounted = state.decisions === decisions
    const miscounted = isCounted ? [] : [`${state.decisions} decisions are counted, the events have ${decisions}`]
    return [...strange, ...lost, ...miscounted]
  }

  /** Compares what is counted of each item with its operations. */
  function countFaults({ counts }: AgendaView, accounts: Accounts): string[] {
    const ofItems = Map.groupBy(accounts.values(), ({ itemId, generation }) => `${itemId} ${generation}`)
    return [...counts].flatMap(([id, { planned, open, ended }]) => {
      if (planned === 0) return [] // it was dispatched again, and nothing of it is planned yet
      const own = ofItems.get(`${id} ${items.get(id)?.generation}`) ?? []
      const now = own.filter(({ status }) => !isEndedOperation(status)).length
      const is = `${planned} planned, ${open} open, ${countsText((status) => ended[status] ?? 0)}`
      const has = (status: EndedOperationStatus) => own.filter((operation) => operation.status === status).length
      const found = `${own.length} planned, ${now} open, ${countsText(has)}`
      return is === found ? [] : [`of item ${id} are counted ${is}; its operations are ${found}`]
    })
  }

  return { take, violations }
}

type Accounts = ReadonlyMap<string, OperationAccount>

function sumOf({ ended }: Folded): number {
  return ended.values().reduce((sum, count) => sum + count, 0)
}

function countsText(of: (status: EndedOperationStatus) => number): string {
  return endedOperationStatuses.map((status) => `${of(status)} ${status}`).join(', ')
}
