import { readFileSync } from 'node:fs'
import { delay, msSince } from '#platform/clock.ts'
import { childrenOf } from '#platform/process-tree.ts'

export type ProcessUse = { processes: number; bytes: number }

const pollMs = 50
/** A look at many processes takes milliseconds of the loop that renews leases: it is rested for so many times as long. */
const restShare = 20
/** No more are counted: that many are over any limit that they could be under. */
const mostCounted = 5_000
const kibibyte = 1024

/** Calls `onUse` every 50 ms with what the process and its descendants use, until the returned function is called. Files count while mapped. */
export function watchProcesses(pid: number, onUse: (use: ProcessUse) => void): () => void {
  const stop = new AbortController()
  void watchUntil(stop.signal, () => onUse(useOf(pid)))
  return () => stop.abort()
}

async function watchUntil(signal: AbortSignal, look: () => void): Promise<void> {
  while (!signal.aborted) {
    const start = performance.now()
    look()
    await delay(Math.max(pollMs, restShare * msSince(start)), signal).catch(() => undefined)
  }
}

function useOf(root: number): ProcessUse {
  const use = { processes: 0, bytes: 0 }
  const rest = [root]
  for (let pid = rest.pop(); pid !== undefined && use.processes < mostCounted; pid = rest.pop()) {
    use.processes += 1
    use.bytes += residentBytes(pid)
    rest.push(...childrenOf(pid))
  }
  return use
}

function residentBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const sizes = status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)
    return sizes.reduce((sum, [, kibibytes]) => sum + Number(kibibytes), 0) * kibibyte
  } catch {
    return 0
  }
}
