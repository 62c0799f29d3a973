import { z } from 'zod'
import { ItemId } from '#domain/agenda.ts'
import type { Event } from '#domain/event.ts'
import { type EndedOperationStatus, endedOperationStatuses, isEndedOperation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import type { OperationAccount, Violation } from './accounts.ts'
import type { AgendaView } from './conductor-steps.ts'

const Status = z.enum(endedOperationStatuses)
const Items = z.array(z.object({ item_id: ItemId })).default([])
const DecidedData = z.object({ kind: z.string().default('plan'), items: Items })
const OfItem = z.object({ item_id: ItemId })
const StartedData = OfItem.extend({ operations: z.int(), generation: z.int(), left: z.int() })
const EndedData = StartedData.omit({ generation: true }).extend({
  counts: z.record(z.string(), z.int()),
  change_sets: z.int(),
  findings: z.int(),
})
const OperationData = z.object({
  status: Status,
  change_set_id: z.string().optional(),
  change_set_ids: z.array(z.string()).optional(),
  findings: z.int().default(0),
})

/** What an item has come to since it was dispatched last, by the events. */
type Folded = {
  operations: number
  generation: number
  /** Counts the works that had no operation. */
  left: number
  ended: Map<EndedOperationStatus, number>
  changeSets: number
  findings: number
  isOpen: boolean
}

/** These decisions are counted in the agenda; one to block is only where there is a plan. */
const counted = new Set(['dispatch', 'retry', 'follow_up', 'complete'])

const ofAgenda: ReadonlySet<string> = new Set([
  'agenda.decided',
  'conductor.decided',
  'objective.refined',
  'objective.extended',
  'plan.approved',
])

/** Compares the items of an agenda, and how many decisions it counts, with the decisions that the events tell of (invariants 2 and 3). */
export function foldAgenda() {
  const named = new Set<ItemId>()
  let [decisions, isPlanned, isRefined] = [0, false, false]
  const [early, decidedIn]: [string[], number[]] = [[], []]

  function take({ event, seq, data }: Event): void {
    if (ofAgenda.has(event)) decidedIn.push(seq)
    if (event !== 'agenda.decided' && event !== 'objective.refined' && event !== 'conductor.decided') return
    const { kind, items } = DecidedData.parse(data)
    for (const { item_id: id } of items) named.add(id)
    if (event === 'conductor.decided' && (counted.has(kind) || (kind === 'block' && isPlanned))) decisions += 1
    if (event === 'objective.refined') isRefined = true
    if (event !== 'agenda.decided') return
    if (isPlanned) early.push(`event ${seq} ${event}: there was an agenda before`)
    isPlanned = true
  }

  function violations(agenda: AgendaView | undefined): Violation[] {
    const ofEvents = early.map((message): Violation => ({ invariant: 3, message }))
    if (agenda === undefined) return ofEvents
    const { items, decisions: stored } = agenda.state
    const [kept, told] = [agenda.decidedIn.join(' '), decidedIn.join(' ')]
    const misplaced = kept === told ? [] : [`decisions are noted in events "${kept}", they are in "${told}"`]
    const has = new Set(items.map(({ item_id: id }) => id))
    const strange = [...has].filter((id) => !named.has(id)).map((id) => `the agenda has item ${id}, no decision has`)
    const lost = isRefined ? [] : [...named].filter((id) => !has.has(id)).map((id) => `the agenda lacks item ${id}`)
    const miscounted = stored === decisions ? [] : [`${stored} decisions are counted, the events have ${decisions}`]
    return [
      ...ofEvents,
      ...[...strange, ...lost, ...miscounted, ...misplaced].map((message): Violation => ({ invariant: 2, message })),
    ]
  }

  return { take, violations }
}

/**
 * Follows the items of an agenda: each begins with `item.started`, and ends once, when all of its operations have, with their counts
 * (invariant 3); the ledger counts the same (invariant 2).
 */
export function foldItems() {
  const items = new Map<ItemId, Folded>()
  const faults: string[] = []
  const openItem = (id: ItemId | undefined) => {
    const item = id && items.get(id)
    return item && item.isOpen ? item : undefined
  }

  function take(event: Event): void {
    const blame = (what: string) => void faults.push(`event ${event.seq} ${event.event}: ${what}`)
    const { item_id: id } = OfItem.safeParse(event.data).data ?? {}
    if (id === undefined) return
    const item = openItem(id)
    if (event.event === 'item.started') {
      if (item !== undefined) blame(`item ${id} had not ended`)
      const none = { ended: new Map(), changeSets: 0, findings: 0, isOpen: true }
      items.set(id, { ...StartedData.parse(event.data), ...none })
    }
    if (event.event === 'operation.ended' || event.event === 'operation.skipped') {
      if (item === undefined) blame(`item ${id}, which it is of, was not under way`)
      else countEnded(item, OperationData.parse(event.data))
    }
    if (event.event === 'item.ended') {
      if (item === undefined) blame(`item ${id} was not under way`)
      else for (const fault of faultsOfEnd(item, EndedData.parse(event.data))) blame(`item ${id} ${fault}`)
    }
    if (item !== undefined && (event.event === 'item.ended' || event.event === 'item.blocked')) item.isOpen = false
  }

  function violations(
    { status }: Pick<Run, 'status'>,
    accounts: Accounts,
    agenda: AgendaView | undefined,
  ): Violation[] {
    const lasting = [...items].flatMap(([id, item]) => {
      const isDue = sumOf(item) === item.operations || status === 'completed' || status === 'blocked'
      return item.isOpen && isDue
        ? [`item ${id} has not ended, ${sumOf(item)} of its ${item.operations} operations have`]
        : []
    })
    const ofEvents = [...faults, ...lasting].map((message): Violation => ({ invariant: 3, message }))
    const stored = agenda === undefined ? [] : countFaults(agenda, { accounts, items })
    return [...ofEvents, ...stored.map((message): Violation => ({ invariant: 2, message }))]
  }

  return { take, violations }
}

type Accounts = ReadonlyMap<string, OperationAccount>

function countEnded(item: Folded, data: z.infer<typeof OperationData>): void {
  const { change_set_id: set, change_set_ids: sets = set === undefined ? [] : [set] } = data
  item.ended.set(data.status, (item.ended.get(data.status) ?? 0) + 1)
  item.changeSets += sets.length
  item.findings += data.findings
}

function faultsOfEnd(item: Folded, data: z.infer<typeof EndedData>): string[] {
  const told = `${countsText((status) => data.counts[status] ?? 0)}, ${data.change_sets} sets, ${data.findings} findings`
  const found = `${countsText((status) => item.ended.get(status) ?? 0)}, ${item.changeSets} sets, ${item.findings} findings`
  const faults = told === found ? [] : [`has ended with ${told}; its operations with ${found}`]
  const all = sumOf(item)
  return all === item.operations ? faults : [...faults, `has ${item.operations} operations, of which ${all} have ended`]
}

type Counted = { accounts: Accounts; items: ReadonlyMap<ItemId, Folded> }

/** Compares what is counted of each item with its operations. */
function countFaults({ counts }: AgendaView, { accounts, items }: Counted): string[] {
  const ofItems = Map.groupBy(accounts.values(), ({ itemId, generation }) => `${itemId} ${generation}`)
  return [...counts].flatMap(([id, { planned, open, left, ended }]) => {
    if (planned === 0) return [] // it was dispatched again, and nothing of it is planned yet
    const own = ofItems.get(`${id} ${items.get(id)?.generation}`) ?? []
    const now = own.filter(({ status }) => !isEndedOperation(status)).length
    const is = `${planned} planned, ${open} open, ${left} left, ${countsText((status) => ended[status] ?? 0)}`
    const has = (status: EndedOperationStatus) => own.filter((operation) => operation.status === status).length
    const undone = (items.get(id)?.left ?? 0) + own.filter(({ leavesWork }) => leavesWork).length
    const found = `${own.length} planned, ${now} open, ${undone} left, ${countsText(has)}`
    return is === found ? [] : [`of item ${id} are counted ${is}; its operations are ${found}`]
  })
}

function sumOf({ ended }: Folded): number {
  return ended.values().reduce((sum, count) => sum + count, 0)
}

function countsText(of: (status: EndedOperationStatus) => number): string {
  return endedOperationStatuses.map((status) => `${of(status)} ${status}`).join(', ')
}
