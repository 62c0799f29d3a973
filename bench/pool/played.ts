import type { PolicyName } from './policies.ts'
import type { Scenario, Simulated } from './simulate.ts'

export type Played = { title: string; why: string; scenario: Scenario; by: readonly [PolicyName, Simulated][] }

/** What a row is measured against. */
export function baseOf(by: Played['by']): Simulated | undefined {
  return by.find(([name]) => name === 'round robin')?.[1]
}
