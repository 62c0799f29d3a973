import { drawFault } from './draw-fault.ts'
import type { Fault } from './fault.ts'
import { generateSource, type GeneratedSource } from './generated-source.ts'
import { openRandom, type Random } from '#platform/seeded-random.ts'

/** What a caller asks for, as it goes over the wire. */
export type Submission = {
  atMs: number
  request: { agents: string[]; priority: number; error_policy: 'continue' | 'skip_downstream' | 'stop_run' }
}

/** All that the seed decides: the same seed gives the same history, whatever becomes of it. */
export type History = {
  seed: number
  source: GeneratedSource
  submissions: readonly Submission[]
  /** How long the model takes for an answer while nothing is wrong with it. */
  latencyMs: number
  /** In the order of their times. */
  faults: readonly Fault[]
}

/** Faults begin in this time after the first submission; with the usual latency the runs last about as long. */
const windowMs = 2_500

export function drawHistory(seed: number): History {
  const random = openRandom(seed)
  const source = generateSource(random)
  const submissions = Array.from({ length: random.int(1, 3) }, (_none, at) => drawSubmission(random, at))
  const faults = Array.from({ length: random.int(2, 7) }, (): Fault => {
    return { atMs: random.int(50, windowMs), ...drawFault(random, submissions.length) }
  })
  const latencyMs = random.int(30, 150)
  return { seed, source, submissions, latencyMs, faults: faults.toSorted((a, b) => a.atMs - b.atMs) }
}

function drawSubmission(random: Random, at: number): Submission {
  return {
    atMs: at === 0 ? 0 : random.int(0, 1_500),
    request: {
      agents: random.pick([['lint'], ['docstring'], ['lint', 'docstring'], ['lint', 'docstring', 'purpose']]),
      priority: random.int(0, 9),
      error_policy: random.pick(['continue', 'skip_downstream', 'stop_run']),
    },
  }
}
