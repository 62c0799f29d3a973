import { sha256 } from '#domain/ids.ts'
import { openRandom } from '#platform/seeded-random.ts'
import type { DrawnRequest, Shape } from './shapes.ts'

/** One request of the suite. */
export type Probe = DrawnRequest & {
  shape: string
  variant: string
  /** Numbers the requests of this prompt, from 1. */
  number: number
  tools: Shape['tools']
}

export type ProbePlan = {
  shapes: readonly Shape[]
  /** Counts the requests that each prompt gets. */
  requests: number
  seed: number
}

/**
 * The requests of a suite, the same for the same seed, all prompts in turn. The n-th request has the same values for every
 * prompt of a shape, so that only the wording differs.
 */
export function planProbes({ shapes, requests, seed }: ProbePlan): Probe[] {
  const numbers = Array.from({ length: requests }, (_, index) => index + 1)
  return numbers.flatMap((number) =>
    shapes.flatMap(({ name: shape, tools, variants }) =>
      variants.map(({ name: variant, draw }) => {
        const random = openRandom(Number.parseInt(sha256(`${seed}/${shape}/${number}`).slice(0, 8), 16))
        return { shape, variant, number, tools, ...draw(random) }
      }),
    ),
  )
}
