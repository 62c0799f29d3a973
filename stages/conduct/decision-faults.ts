import {
  type AgendaItem,
  type AgendaState,
  type Bootstrap,
  type Decision,
  type ItemState,
  maxItems,
  maxRetries,
  type Refinement,
  type RunAnswer,
} from '#domain/agenda.ts'

export type PlannerDecision = Bootstrap | Decision | Refinement

/** What a decision may name. `paths` and `findings` (`path:line`): which of those that it cites exist. */
export type Nameable = {
  state: AgendaState
  capabilities: readonly string[]
  lastSeq: number
  paths: ReadonlySet<string>
  findings: ReadonlySet<string>
}

/** Says in sentences what of a decision cannot be: none for one that can be carried out as it is. */
export function decisionFaults(decision: PlannerDecision, known: Nameable): string[] {
  return [...eventFaults('rationale.events', decision.rationale.events, known), ...ownFaults(decision, known)]
}

function ownFaults(decision: PlannerDecision, known: Nameable): string[] {
  const { items } = known.state
  switch (decision.kind) {
    case 'plan':
    case 'follow_up':
      return itemFaults(decision.items, items, known)
    case 'refine':
      return itemFaults(decision.items, items.filter(hasBegun), known)
    case 'dispatch':
      return decision.item_ids.flatMap((id) => {
        const status = items.find((item) => item.item_id === id)?.status
        if (status === undefined) return [`there is no item ${id}: ${namesOf(items)}`]
        return status === 'waiting' || status === 'stale'
          ? []
          : [`item ${id} is ${status}: only what waits is dispatched`]
      })
    case 'retry':
      return retryFaults(decision.item_id, items)
    case 'complete':
      return answerFaults(decision.answer, known)
    default:
      return []
  }
}

/** Items that have not begun are the ones that a refinement takes the place of. */
export function hasBegun({ status }: ItemState): boolean {
  return status !== 'waiting' && status !== 'stale'
}

function retryFaults(id: string, items: readonly ItemState[]): string[] {
  const item = items.find((one) => one.item_id === id)
  if (item === undefined) return [`there is no item ${id}: ${namesOf(items)}`]
  if (item.status !== 'ended' && item.status !== 'blocked') return [`item ${id} is ${item.status}: it has not ended`]
  return item.retries < maxRetries ? [] : [`item ${id} was tried again ${maxRetries} times, which is the most`]
}

function itemFaults(added: readonly AgendaItem[], kept: readonly ItemState[], known: Nameable): string[] {
  const faults: string[] = []
  const names = new Set(kept.map((item) => item.item_id))
  for (const { item_id: id } of added) {
    if (names.has(id)) faults.push(`there are two items ${id}`)
    names.add(id)
  }
  if (kept.length + added.length > maxItems)
    faults.push(`the agenda may have ${maxItems} items, not ${kept.length + added.length}`)
  for (const { item_id: id, capability, depends_on: needed } of added) {
    if (!known.capabilities.includes(capability))
      faults.push(`item ${id}: there is no capability "${capability}", only ${known.capabilities.join(', ')}`)
    for (const other of needed) if (!names.has(other)) faults.push(`item ${id} depends on ${other}, which is no item`)
  }
  const circle = circleIn([...kept, ...added])
  return circle === undefined ? faults : [...faults, `items depend on each other in a circle: ${circle.join(', ')}`]
}

/** Takes away items that depend on nothing that is left, until none is left or those that remain are in a circle. */
function circleIn(items: readonly AgendaItem[]): string[] | undefined {
  let left = items
  for (;;) {
    const names = new Set(left.map((item) => item.item_id))
    const next = left.filter(({ depends_on: needed }) => needed.some((id) => names.has(id)))
    if (next.length === 0) return undefined
    if (next.length === left.length) return [...names]
    left = next
  }
}

/** Says in sentences what an answer cites that does not exist. */
export function answerFaults(
  { events, paths, findings }: RunAnswer,
  known: Pick<Nameable, 'lastSeq' | 'paths' | 'findings'>,
): string[] {
  const lost = paths.filter((path) => !known.paths.has(path)).map((path) => `answer.paths: there is no file ${path}`)
  const places = findings.map(({ path, line }) => `${path}:${line}`)
  const unknown = places.filter((place) => !known.findings.has(place))
  return [
    ...eventFaults('answer.events', events, known),
    ...lost,
    ...unknown.map((place) => `answer.findings: nothing was found at ${place}`),
  ]
}

function eventFaults(where: string, events: readonly number[], { lastSeq }: Pick<Nameable, 'lastSeq'>): string[] {
  const beyond = events.filter((seq) => seq > lastSeq)
  return beyond.length === 0 ? [] : [`${where}: there is no event ${beyond.join(', ')}, the last one is ${lastSeq}`]
}

function namesOf(items: readonly ItemState[]): string {
  return items.length === 0 ? 'the agenda is empty' : `the items are ${items.map((item) => item.item_id).join(', ')}`
}
