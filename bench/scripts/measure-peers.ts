import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { compileScript, montyCode } from '#tool-scripts/compiled-script.ts'
import { parseScript } from '#tool-scripts/parse-script.ts'
import { openScriptPool } from '#tool-scripts/script-pool.ts'

/** Times in microseconds per script, rates in scripts per second; one value per round. */
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

/** The two scripts that every peer runs. */
const benchScripts = {
  line: 'from grail import Input\nx: int = Input("x")\nx + 1\n',
  external:
    'from grail import Input, external\nx: int = Input("x")\n@external\nasync def step(n: int) -> int: ...\nawait step(x)\n',
} as const
type BenchScript = keyof typeof benchScripts

/** Runs scripts one at a time or many at once; the host answers `step` with its argument. */
type ScriptPeer = {
  run(script: BenchScript, x: number): Promise<unknown>
  close(): Promise<void>
}

const childFile = fileURLToPath(new URL('../peers/bare-monty.ts', import.meta.url))
const names: readonly BenchScript[] = ['line', 'external']

type FromChild = { id: number; value: unknown } | { id: number; args: unknown[] }

/** `size` forked processes with advanced serialization, used in turn. */
async function openBareFork(size: number): Promise<ScriptPeer> {
  const children: ChildProcess[] = []
  const waiting = new Map<number, (value: unknown) => void>()
  for (let index = 0; index < size; index += 1) {
    const child = fork(childFile, { serialization: 'advanced' })
    for (const name of names) child.send({ code: montyCode(await parseScript(benchScripts[name])) })
    child.on('message', (sent: FromChild) => {
      if ('args' in sent) {
        child.send({ id: sent.id, answer: sent.args[0] })
        return
      }
      waiting.get(sent.id)?.(sent.value)
      waiting.delete(sent.id)
    })
    children.push(child)
  }
  let lastId = 0
  return {
    run(script, x) {
      const id = (lastId += 1)
      const { promise, resolve } = Promise.withResolvers<unknown>()
      waiting.set(id, resolve)
      children[id % size]?.send({ id, script: names.indexOf(script), x })
      return promise
    },
    async close() {
      const exited = children.map((child) => once(child, 'exit'))
      for (const child of children) child.disconnect()
      await Promise.all(exited)
    },
  }
}

/** Scripts of one operation, which share its signal. */
const runsPerSignal = 50

/** The whole pool as a worker uses it, with a listener for its events. */
async function openPoolPeer(size: number): Promise<ScriptPeer> {
  const pool = openScriptPool({ size })
  let { signal } = new AbortController()
  const scripts = {
    line: await compileScript({ path: 'line.pym', source: benchScripts.line }),
    external: await compileScript({ path: 'external.pym', source: benchScripts.external }),
  }
  const externals = { step: ([n]: unknown[]) => n }
  let events = 0
  const onEvent = (): void => {
    events += 1
  }
  return {
    async run(script, x) {
      if (x % runsPerSignal === 0) signal = new AbortController().signal
      const ending = await pool.run(scripts[script], { inputs: { x }, externals, onEvent }, signal)
      if (ending.kind !== 'returned' || events === 0) throw new Error(JSON.stringify(ending))
      return ending.value
    },
    close: () => pool.close(),
  }
}
