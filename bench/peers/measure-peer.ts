import { z } from 'zod'
import { mapBounded } from '#platform/map-bounded.ts'

const count = z.coerce.number().int()
const PeerArguments = z.tuple([z.url(), z.url(), count, count, count])
export type PeerArguments = { url: string; redisUrl: string; agents: number; warmup: number; concurrency: number }

/** What a peer's process is given: model server, Redis, agents, warm-up agents, concurrency. */
export function peerArguments(): PeerArguments {
  const [url, redisUrl, agents, warmup, concurrency] = PeerArguments.parse(process.argv.slice(2))
  return { url, redisUrl, agents, warmup, concurrency }
}

/**
 * The line a peer prints. `cpuMs` is user and system time of its process while it ran the agents after the warm-up,
 * which was between these two times of `process.hrtime`.
 */
export const PeerFigures = z.object({
  cpuMs: z.number(),
  wallMs: z.number(),
  between: z.object({ fromUs: z.number(), toUs: z.number() }),
})
export type PeerFigures = z.infer<typeof PeerFigures>

/**
 * Runs the warm-up, then the agents, prints the figures and ends the process. `batch` runs the agents of these numbers; `more` is printed, too.
 */
export async function measurePeer(
  { agents, warmup }: Pick<PeerArguments, 'agents' | 'warmup'>,
  batch: (numbers: readonly number[]) => Promise<unknown>,
  more: () => object = () => ({}),
): Promise<never> {
  await batch(numbersFrom(0, warmup))
  const [cpuBefore, fromUs] = [process.cpuUsage(), nowUs()]
  await batch(numbersFrom(warmup, agents))
  const [{ user, system }, toUs] = [process.cpuUsage(cpuBefore), nowUs()]
  const figures: PeerFigures = {
    cpuMs: (user + system) / 1000,
    wallMs: (toUs - fromUs) / 1000,
    between: { fromUs, toUs },
  }
  console.log(JSON.stringify({ ...figures, ...more() }))
  process.exit(0)
}

function nowUs(): number {
  return Number(process.hrtime.bigint()) / 1000
}

function numbersFrom(first: number, length: number): number[] {
  return Array.from({ length }, (_, index) => first + index)
}

/** Measures a loop of agents: `open` builds what they share and returns the function that runs one of them. */
export async function measureLoop(
  open: (given: PeerArguments) => (number: number) => Promise<unknown>,
): Promise<never> {
  const given = peerArguments()
  const runAgent = open(given)
  return measurePeer(given, (numbers) => mapBounded(numbers, given.concurrency, runAgent))
}
