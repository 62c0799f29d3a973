import { sha256 } from '#domain/ids.ts'
import { openRandom } from '#platform/seeded-random.ts'
import type { DrawnRequest, Shape } from './shapes.ts'

export type Probe = DrawnRequest & {
  shape: string
  variant: string
  number: number
  tools: Shape['tools']
}

export type ProbePlan = {
  shapes: readonly Shape[]
  requests: number
  seed: number
}

/** Returns the same requests for the same seed; the n-th has the same values for every prompt of a shape, so that only the wording differs. */
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
