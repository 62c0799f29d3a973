import type { Candidate } from './circuit-breaker.ts'
import type { Replica } from './replica.ts'

/**
 * How far a replica may be above its share of what is in flight. Lower keeps the load more even, higher keeps more of a
 * prefix's requests where its beginning is cached; 1.25 is where "Consistent Hashing with Bounded Loads" (2017) has
 * most of both.
 */
const boundOfMean = 1.25

export type Wish = {
  model: string
  /** Requests that begin alike have the same. */
  key: string
  /** Where it failed last. */
  avoid?: Replica | undefined
  /** Where it has failed. */
  failedAt?: ReadonlySet<Replica> | undefined
  /** Where it was told to come later, and it is not later yet. */
  isWaiting?: ((replica: Replica) => boolean) | undefined
}

export function candidateOf({ failedAt }: Pick<Wish, 'failedAt'>, replica: Replica): Candidate {
  return failedAt?.has(replica) === true ? 'failed_here' : 'fresh'
}

export type Choice = {
  /** In the order in which the wish's key prefers them. */
  ranked: readonly Replica[]
  wish: Omit<Wish, 'key'>
  /** How many requests like this one would take a place, it included. */
  waiting: number
}

/**
 * Takes a place for a request: at the replica that its key prefers, unless that one is above 1.25 times its share of the
 * load or full; then at the one that is least full. (The next one of its key would be filled to the bound as well, while
 * others have little to do: with one key for all, an eighth of the requests per second less in bench/pool-bench.ts.)
 * `soon`: places are being asked for where it wants to go. Undefined: there is no place.
 */
export function chooseReplica({ ranked, wish, waiting }: Choice): Replica | 'soon' | undefined {
  const usable = usableReplicas(ranked, wish)
  const load = sumOf(usable, (replica) => replica.inFlight()) + 1
  const share = sumOf(usable, (replica) => replica.limit.current())
  const wanted = Math.ceil(waiting / Math.max(1, usable.length))
  const roomAt = (replica: Replica) => replica.limit.current() - replica.inFlight()
  const [home] = usable
  if (home !== undefined && roomAt(home) > 0) {
    const bound = Math.ceil((boundOfMean * load * home.limit.current()) / share)
    const answer = home.inFlight() < bound ? home.places.take(Math.min(wanted, roomAt(home))) : 'full'
    if (answer === 'soon') return answer
    if (answer === 'taken') return home
  }
  const byFill = usable.filter((replica) => roomAt(replica) > 0).toSorted((one, other) => fillOf(one) - fillOf(other))
  for (const replica of byFill) {
    const answer = replica.places.take(Math.min(wanted, roomAt(replica)))
    if (answer === 'soon') return answer
    if (answer === 'taken') return replica
  }
  return undefined
}

/**
 * Those that offer the model, are not left alone and may be asked now. While there are others: without those where the wish
 * has failed, at least without the one where it failed last.
 */
function usableReplicas(ranked: readonly Replica[], wish: Choice['wish']): readonly Replica[] {
  const { model, avoid, failedAt } = wish
  const isUsable = (replica: Replica) =>
    replica.offered.mayOffer(model) &&
    replica.breaker.admits(candidateOf(wish, replica)) &&
    wish.isWaiting?.(replica) !== true
  const usable = ranked.every(isUsable) ? ranked : ranked.filter(isUsable)
  if (avoid === undefined) return usable
  const others = usable.filter((replica) => replica !== avoid)
  const untried = others.filter((replica) => failedAt?.has(replica) !== true)
  return [untried, others].find((some) => some.length > 0) ?? usable
}

function fillOf(replica: Replica): number {
  return replica.inFlight() / replica.limit.current()
}

function sumOf(replicas: readonly Replica[], value: (replica: Replica) => number): number {
  let sum = 0
  for (const replica of replicas) sum += value(replica)
  return sum
}
