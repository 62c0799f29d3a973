import type { PolicyName } from './policies.ts'
import { baseOf, type Played } from './played.ts'

export type Aim = { what: string; figure: string; isMet: boolean }

const judged: readonly PolicyName[] = ['ours', 'ours, with metrics']
const leastGain = 1.5
const mostLoad = 1.25

/**
 * What the pool is to reach: 1.5 times round robin with many bundles, no replica above 1.25 times the mean load over time
 * where none is at fault, and no request lost.
 */
export function judgeAims(played: readonly Played[]): Aim[] {
  return played.flatMap((one) =>
    one.by.filter(([name]) => judged.includes(name)).flatMap(([name]) => judgeRow(one, name)),
  )
}

function judgeRow({ title, scenario, by }: Played, name: PolicyName): Aim[] {
  const [, simulated] = by.find(([other]) => other === name) ?? []
  if (simulated === undefined) return []
  const { requestsPerS, busiest, lost } = simulated
  const what = `${title}, ${name}:`
  const aims: Aim[] = [{ what: `${what} no request lost`, figure: String(lost), isMet: lost === 0 }]
  if (scenario.faults !== undefined) return aims
  const load = { figure: `${busiest.overall.toFixed(2)} ×`, isMet: busiest.overall <= mostLoad }
  aims.push({ what: `${what} busiest replica at most ${mostLoad} × the mean over time`, ...load })
  const gain = requestsPerS / (baseOf(by)?.requestsPerS ?? Infinity)
  if (scenario.prefixes === 1) return aims
  const ahead = { figure: `${gain.toFixed(2)} ×`, isMet: gain >= leastGain }
  return [...aims, { what: `${what} at least ${leastGain} × round robin's requests per second`, ...ahead }]
}
