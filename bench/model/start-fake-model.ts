import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { ModelLoad } from './load-meter.ts'

const ModelCounts = z.object({
  /** Requests that held no, one, two, and three or more tool results. */
  byTurn: z.array(z.int()),
  /** Second turns that brought the file's text, and third ones that brought the writing tool's answer. */
  readResults: z.int(),
  writeResults: z.int(),
  /** For other paths, or about no node. */
  otherRequests: z.int(),
  bodyBytes: z.int(),
  load: ModelLoad,
})
export type ModelCounts = z.infer<typeof ModelCounts>

export type FakeModel = {
  url: string
  pid: number
  /** What was asked since the last call. */
  takeCounts(): Promise<ModelCounts>
  stop(): Promise<void>
}

export type FakeModelOptions = {
  /** Every answer takes a time between these two, by chance; at once when left out. */
  latencyMs?: { least: number; most: number }
  /** Requests at once that count as full load. */
  slots?: number
}

const entry = fileURLToPath(new URL('./fake-model-main.ts', import.meta.url))

/** Starts the fake model server as a process of its own on a free port of 127.0.0.1; it ends with this one. */
export async function startFakeModel(options: FakeModelOptions = {}): Promise<FakeModel> {
  const { latencyMs = { least: 0, most: 0 }, slots = 1 } = options
  const given = [latencyMs.least, latencyMs.most, slots].map(String)
  const child = fork(entry, given, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const answer = async () => (await once(child, 'message'))[0]
  const { port } = z.object({ port: z.int() }).parse(await answer())
  return {
    url: `http://127.0.0.1:${port}/v1`,
    pid: child.pid ?? 0,
    async takeCounts() {
      const counts = answer()
      child.send('take')
      return ModelCounts.parse(await counts)
    },
    async stop() {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}

/**
 * What is wrong with the counts of `agents` agents: each asks once per turn, and both tools' results arrive. No other
 * completion may be asked for; what a client asks about the server itself does not count.
 */
export function countFaults(counts: ModelCounts, agents: number): string[] {
  const { byTurn, readResults, writeResults, otherRequests } = counts
  const faults: string[] = []
  const expected = [agents, agents, agents, 0]
  if (byTurn.join() !== expected.join()) faults.push(`requests by turn ${byTurn.join('/')} of ${expected.join('/')}`)
  if (readResults !== agents) faults.push(`${readResults} of ${agents} file texts arrived`)
  if (writeResults !== agents) faults.push(`${writeResults} of ${agents} answers of write_file arrived`)
  if (otherRequests > 0) faults.push(`${otherRequests} other requests`)
  return faults
}
