import { compileScript } from '#tool-scripts/compiled-script.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import { openScriptPool, type ScriptPool } from '#tool-scripts/script-pool.ts'
import { median } from '../reports/markdown-report.ts'
import type { ShippedScript } from './measure-compile.ts'

/** Milliseconds. */
export type StartFigures = {
  /** The first script of a pool: the process starts. */
  cold: number
  /** The first run of a script in a process that runs: it is sent and compiled. */
  first: number
  calls: number
  /** A script of that many calls, answered by the host and replayed from the journal. */
  answered: number
  replayed: number
}

const calls = 100
const manyCalls = `from grail import external
@external
async def step(n: int) -> str: ...
text = ""
for n in range(${calls}):
    text = await step(n)
text`
const forever = new AbortController().signal

export async function measureStarts(scripts: readonly ShippedScript[], rounds: number): Promise<StartFigures> {
  const cold: number[] = []
  for (let round = 0; round < Math.min(rounds, 10); round += 1) {
    const pool = openScriptPool({ size: 1 })
    cold.push(await milliseconds(() => runSource(pool, '1')))
    await pool.close()
  }
  const pool = openScriptPool({ size: 1 })
  try {
    await runSource(pool, '1')
    const first: number[] = []
    const calling = scripts.filter(({ source }) => source.includes('@external'))
    for (let round = 0; round < rounds; round += 1) {
      for (const { source } of calling) first.push(await firstRun(pool, `${source}\n# ${round}`))
    }
    return { cold: median(cold), first: median(first), calls, ...(await measureReplay(pool, rounds)) }
  } finally {
    await pool.close()
  }
}

/** The time until the script's first call reaches the host. A worker compiles scripts earlier, when it loads a bundle. */
async function firstRun(pool: ScriptPool, source: string): Promise<number> {
  const script = await compileScript({ path: 'first.pym', source })
  let calledAt = Number.NaN
  const called = (): never => {
    calledAt = performance.now()
    throw new Error('not answered')
  }
  const externals = Object.fromEntries(script.declarations.externals.map(({ name }) => [name, called]))
  const needed = script.declarations.inputs.filter((input) => !('default' in input))
  const inputs = Object.fromEntries(
    needed.map(({ name, schema }) => [name, schema['type'] === 'object' ? { style: 'auto' } : '']),
  )
  const startedAt = performance.now()
  await pool.run(script, { inputs, externals }, forever).catch(() => undefined)
  if (Number.isNaN(calledAt)) throw new Error(`called nothing: ${source}`)
  return calledAt - startedAt
}

async function measureReplay(pool: ScriptPool, rounds: number): Promise<{ answered: number; replayed: number }> {
  const script = await compileScript({ path: 'many.pym', source: manyCalls })
  const journal = Array.from({ length: calls }, (_, n): JournalEntry => ({
    name: 'step',
    args: [n],
    answer: `line ${n}`,
  }))
  const externals = { step: ([n]: unknown[]) => `line ${String(n)}` }
  const times = { answered: [0], replayed: [0] }
  for (let round = 0; round < rounds; round += 1) {
    times.answered.push(await milliseconds(() => pool.run(script, { inputs: {}, externals }, forever)))
    times.replayed.push(await milliseconds(() => pool.run(script, { inputs: {}, externals, journal }, forever)))
  }
  return { answered: median(times.answered.slice(1)), replayed: median(times.replayed.slice(1)) }
}

async function runSource(pool: ScriptPool, source: string): Promise<unknown> {
  return pool.run(await compileScript({ path: 'probe.pym', source }), { inputs: {}, externals: {} }, forever)
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
