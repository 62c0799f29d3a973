import { expect, it } from 'vitest'
import type { Verdict } from '#domain/decision.ts'
import type { MadeSets } from '#store/objects/composition.ts'
import { openRandom } from '#platform/seeded-random.ts'
import { countFunnel } from './funnel.ts'

const places = ['sound', 'left out', 'broken', 'made again'] as const
const verdicts = ['pending', 'accepted', 'rejected'] as const

it('counts some of those before in each number, whatever was made and whatever is decided', () => {
  const { int, pick, chance } = openRandom(7)
  for (let round = 0; round < 500; round += 1) {
    const made = ['lint', 'docstring'].map((agent): MadeSets => {
      const sets = Array.from({ length: int(0, 12) }, (_, at) => {
        return { id: `${agent} ${at}`, place: pick(places), proved: chance(0.7) }
      })
      return { agent, failed: int(0, 3), sets }
    })
    const decisions = new Map<string, Verdict>()
    for (let step = 0; step < 20; step += 1) {
      decisions.set(`${pick(['lint', 'docstring'])} ${int(0, 14)}`, pick(verdicts))
      const funnels = countFunnel(made, (id) => decisions.get(id) ?? 'pending')
      expect(funnels.map(({ agent }) => agent)).toEqual(['docstring', 'lint'])
      for (const { agent, ...counts } of funnels) {
        const { generated, valid, verified, accepted, acceptedUnverified, rejected } = counts
        expect([generated >= valid, valid >= verified, verified >= accepted], JSON.stringify(counts)).toEqual([
          true,
          true,
          true,
        ])
        expect(accepted + acceptedUnverified + rejected).toBeLessThanOrEqual(generated)
        // Every decision on what the run has made is in one of the numbers, unless what was rejected was made again.
        const own = made.flatMap((one) => (one.agent === agent ? one.sets : []))
        const isAccepted = own.filter(({ id }) => decisions.get(id) === 'accepted')
        expect(accepted + acceptedUnverified).toBe(isAccepted.length)
        const isRejected = own.filter(({ id, place }) => place !== 'made again' && decisions.get(id) === 'rejected')
        expect(rejected).toBe(isRejected.length)
      }
    }
  }
})

const one = (place: (typeof places)[number], proved = true) => [
  { agent: 'lint', failed: 1, sets: [{ id: 'c1', place, proved }] },
]
const counted = (made: MadeSets[], verdict: Verdict) => {
  const [{ agent: _agent, ...counts } = {}] = countFunnel(made, () => verdict)
  return Object.values(counts)
}

it.each([
  ['sound', true, 'accepted', [2, 1, 1, 1, 0, 0]],
  ['sound', true, 'rejected', [2, 1, 1, 0, 0, 1]],
  ['sound', false, 'accepted', [2, 1, 0, 0, 1, 0]],
  ['left out', true, 'pending', [2, 0, 0, 0, 0, 0]],
  ['left out', true, 'accepted', [2, 1, 1, 1, 0, 0]],
  ['broken', true, 'accepted', [2, 0, 0, 0, 1, 0]],
  ['made again', true, 'pending', [1, 0, 0, 0, 0, 0]],
  ['made again', true, 'accepted', [2, 1, 1, 1, 0, 0]],
] as const)('counts a set that is %s, proved: %s, and %s', (place, proved, verdict, counts) => {
  expect(counted(one(place, proved), verdict)).toEqual(counts)
})
