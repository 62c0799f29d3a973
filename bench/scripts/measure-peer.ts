import type { BenchScript, ScriptPeer } from './bench-scripts.ts'

/** Microseconds a script, one after the other. */
export async function microsecondsEach(peer: ScriptPeer, script: BenchScript, count: number): Promise<number> {
  const startedAt = performance.now()
  for (let x = 0; x < count; x += 1) await peer.run(script, x)
  return ((performance.now() - startedAt) * 1_000) / count
}

/** Scripts a second with `depth` under way at every moment. */
export async function scriptsPerSecond(
  peer: ScriptPeer,
  script: BenchScript,
  { count, depth }: { count: number; depth: number },
): Promise<number> {
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) await peer.run(script, (next += 1))
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: depth }, work))
  return (count * 1_000) / (performance.now() - startedAt)
}
