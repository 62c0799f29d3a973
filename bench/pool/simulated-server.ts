import { LRUCache } from 'lru-cache'
import { AppError } from '#domain/error.ts'
import type { Clock } from '#platform/clock.ts'

/**
 * A vLLM replica, as far as it matters for routing: runs so many sequences at once and queues the rest, reads one prompt
 * after the other, free of cost as far as its prefix cache holds it, and writes for all sequences at once.
 */
export type ServerShape = {
  /** Sequences at once (`--max-num-seqs`). */
  slots: number
  /** Tokens of prompts it reads in a second. */
  prefillPerS: number
  msPerToken: number
  /** How many prefixes its KV cache holds in addition to the running sequences. */
  cachedPrefixes: number
}

export type RequestShape = { prefixTokens: number; ownTokens: number; outputTokens: number }

export type SimulatedServer = {
  name: string
  /** Resolves when the last token is written; rejects with AGENT_002 where the server is dead. */
  serve(prefix: string, shape: RequestShape): Promise<void>
  inFlight(): number
  counted: { served: number; hits: number }
  /** Every request there, and every later one, fails. */
  die(): void
  /** No later request is answered: the client's time limit ends each. */
  hang(): void
  /** It writes so many times slower. */
  slowDown(times: number): void
}

type Job = { prefix: string; shape: RequestShape; end: () => void; fail: (error: AppError) => void }

/** Remora's own time limit of a request, by default. */
const requestLimitMs = 120_000

export function openSimulatedServer(name: string, shape: ServerShape, clock: Clock): SimulatedServer {
  const server = openServer(name, shape, clock)
  let [isHung, hanging] = [false, 0]
  const hangUntilLate = async () => {
    hanging += 1
    await clock.delay(requestLimitMs)
    hanging -= 1
    throw new AppError('AGENT_002', 'no answer in time', { phase: 'model' })
  }
  return {
    ...server,
    serve: (...request) => (isHung ? hangUntilLate() : server.serve(...request)),
    inFlight: () => server.inFlight() + hanging,
    hang: () => void (isHung = true),
  }
}

function openServer(name: string, server: ServerShape, clock: Clock): Omit<SimulatedServer, 'hang'> {
  const cache = new LRUCache<string, true>({ max: server.cachedPrefixes })
  const counted = { served: 0, hits: 0 }
  const queue: Job[] = []
  const jobs = new Set<Job>()
  let [running, isReading, isDead, slowness] = [0, false, false, 1]

  const next = () => {
    const job = isReading || running >= server.slots ? undefined : queue.shift()
    if (job === undefined) return
    const { prefixTokens, ownTokens, outputTokens } = job.shape
    const isHit = cache.get(job.prefix) === true
    if (isHit) counted.hits += 1
    running += 1
    isReading = true
    const readMs = ((isHit ? ownTokens : prefixTokens + ownTokens) / server.prefillPerS) * 1000
    clock.after(readMs, () => {
      isReading = false
      cache.set(job.prefix, true)
      clock.after(outputTokens * server.msPerToken * slowness, () => {
        running -= 1
        counted.served += 1
        job.end()
        next()
      })
      next()
    })
  }
  return {
    name,
    counted,
    serve: (prefix, shape) =>
      new Promise((resolve, reject) => {
        if (isDead) return reject(refused())
        const leave = () => jobs.delete(job)
        const job: Job = { prefix, shape, end: () => leave() && resolve(), fail: (error) => leave() && reject(error) }
        jobs.add(job)
        queue.push(job)
        return next()
      }),
    inFlight: () => jobs.size,
    die() {
      isDead = true
      queue.length = 0
      for (const job of jobs) job.fail(refused())
    },
    slowDown: (times) => void (slowness = times),
  }
}

const refused = () => new AppError('AGENT_002', 'no answer: ECONNREFUSED', { phase: 'model' })
