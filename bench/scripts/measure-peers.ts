import { openBareFork } from './bare-fork.ts'
import type { BenchScript, ScriptPeer } from './bench-scripts.ts'
import { openPoolPeer } from './pool-peer.ts'

/** Times in microseconds a script, rates in scripts a second; one value a round. */
export type PeerFigures = { line: number[]; external: number[]; lineRate: number[]; externalRate: number[] }
export type Effort = { rounds: number; oneByOne: number; atOnce: number }

/** Scripts that run at the same time in the concurrent measurement. */
const depth = 64

/** Measures the pool and the bare fork, with `size` processes each, alternately in every round, after a warm-up round. */
export async function measurePeers(size: number, effort: Effort): Promise<{ bare: PeerFigures; pool: PeerFigures }> {
  const peers = { bare: await openBareFork(size), pool: await openPoolPeer(size) }
  const figures = { bare: noFigures(), pool: noFigures() }
  try {
    for (let round = 0; round <= effort.rounds; round += 1) {
      for (const name of ['bare', 'pool'] as const) {
        await addRound(peers[name], round === 0 ? noFigures() : figures[name], effort)
      }
    }
    return figures
  } finally {
    await Promise.all(Object.values(peers).map((peer) => peer.close()))
  }
}

function noFigures(): PeerFigures {
  return { line: [], external: [], lineRate: [], externalRate: [] }
}

async function addRound(peer: ScriptPeer, to: PeerFigures, { oneByOne, atOnce }: Effort): Promise<void> {
  to.line.push(await microsecondsEach(peer, 'line', oneByOne))
  to.external.push(await microsecondsEach(peer, 'external', oneByOne))
  to.lineRate.push(await scriptsPerSecond(peer, 'line', atOnce))
  to.externalRate.push(await scriptsPerSecond(peer, 'external', atOnce))
}

async function microsecondsEach(peer: ScriptPeer, script: BenchScript, count: number): Promise<number> {
  const startedAt = performance.now()
  for (let x = 0; x < count; x += 1) await peer.run(script, x)
  return ((performance.now() - startedAt) * 1_000) / count
}

async function scriptsPerSecond(peer: ScriptPeer, script: BenchScript, count: number): Promise<number> {
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) await peer.run(script, (next += 1))
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: depth }, work))
  return (count * 1_000) / (performance.now() - startedAt)
}
