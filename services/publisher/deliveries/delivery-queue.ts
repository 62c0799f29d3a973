import type { TakenDelivery } from '#code-hosts/delivery-inbox.ts'
import { getOrMake } from '#platform/cached-answers.ts'

export type Places = { all: number; ofInstallation: number }

/** `pausedUntil` is in ms since the epoch. */
type Waiting = { repositories: Map<string, TakenDelivery[]>; atWork: Set<string>; pausedUntil: number }

/** Gives out deliveries of a repository one after the other. Installations, and repositories of one, take turns; each has few places. */
export function openDeliveryQueue(places: Places) {
  const installations = new Map<string, Waiting>()
  const entries = new Map<string, TakenDelivery>()
  let atWork = 0
  const leave = (taken: TakenDelivery): Waiting => {
    const waiting = waitingOf(taken, installations)
    if (waiting.atWork.delete(repositoryOf(taken))) atWork -= 1
    return waiting
  }
  return {
    size: () => entries.size,
    /** It includes what is at work. */
    entries: () => [...entries.values()],
    /** Returns how many of them are new here. */
    add(taken: readonly TakenDelivery[]): number {
      const added = taken.filter(({ entry }) => !entries.has(entry))
      for (const delivery of added) {
        entries.set(delivery.entry, delivery)
        deliveriesOf(delivery, waitingOf(delivery, installations)).push(delivery)
      }
      return added.length
    },
    /** It has a place until `end` or `pause`. It is undefined when there is none, or no place for it. */
    next(now: number): TakenDelivery | undefined {
      const delivery = atWork < places.all ? takeNext(installations, places, now) : undefined
      if (delivery !== undefined) atWork += 1
      return delivery
    },
    end(taken: TakenDelivery): void {
      entries.delete(taken.entry)
      const { repositories, atWork: others, pausedUntil } = leave(taken)
      const isIdle = repositories.size === 0 && others.size === 0 && pausedUntil <= Date.now()
      if (isIdle) installations.delete(installationOf(taken))
    },
    /** Nothing of its installation is given out until then (ms since the epoch); this one comes first again. */
    pause(taken: TakenDelivery, until: number): void {
      const waiting = leave(taken)
      waiting.pausedUntil = Math.max(waiting.pausedUntil, until)
      deliveriesOf(taken, waiting).unshift(taken)
    },
    /** Forgets what waits and belongs to somebody else by now. */
    drop(lost: ReadonlySet<string>): void {
      if (lost.size === 0) return
      for (const { repositories } of installations.values())
        for (const delivery of dropFrom(repositories, lost)) entries.delete(delivery.entry)
    },
  }
}

function waitingOf(taken: TakenDelivery, installations: Map<string, Waiting>): Waiting {
  const waiting = () => ({ repositories: new Map(), atWork: new Set<string>(), pausedUntil: 0 })
  return getOrMake(installations, installationOf(taken), waiting)
}

function deliveriesOf(taken: TakenDelivery, { repositories }: Waiting): TakenDelivery[] {
  return getOrMake(repositories, repositoryOf(taken), () => [])
}

function dropFrom(repositories: Waiting['repositories'], lost: ReadonlySet<string>): TakenDelivery[] {
  const dropped: TakenDelivery[] = []
  for (const [key, deliveries] of repositories) {
    const { kept = [], lost: gone = [] } = Object.groupBy(deliveries, ({ entry }) =>
      lost.has(entry) ? 'lost' : 'kept',
    )
    dropped.push(...gone)
    if (kept.length > 0) repositories.set(key, kept)
    else repositories.delete(key)
  }
  return dropped
}

function takeNext(
  installations: Map<string, Waiting>,
  { ofInstallation }: Places,
  now: number,
): TakenDelivery | undefined {
  for (const [key, waiting] of installations) {
    if (waiting.pausedUntil > now || waiting.atWork.size >= ofInstallation) continue
    const delivery = takeFirst(waiting)
    if (delivery === undefined) continue
    installations.delete(key)
    installations.set(key, waiting) // others come first the next time
    return delivery
  }
  return undefined
}

function takeFirst({ repositories, atWork }: Waiting): TakenDelivery | undefined {
  for (const [key, deliveries] of repositories) {
    if (atWork.has(key)) continue
    const first = deliveries.shift()
    repositories.delete(key)
    if (deliveries.length > 0) repositories.set(key, deliveries) // others come first the next time
    if (first === undefined) continue
    atWork.add(key)
    return first
  }
  return undefined
}

const installationOf = ({ delivery }: TakenDelivery) => String(delivery.installationId)
/** Deliveries that concern no repository share one key, so they stay in their order, too. */
const repositoryOf = ({ delivery }: TakenDelivery) => String(delivery.repository?.id)
