import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { assembleResults, resultSections } from '../../bench/assemble-results.ts'
import { llamaServers } from './llama-servers.ts'
import { openFigures, type PartName, parts } from './measure-parts.ts'
import { renderModel, type ServerFigures } from './render-model.ts'
import { serverFolder } from './python-environment.ts'
import { type ServerPlan, serverSettings, startServer } from './start-server.ts'
import { vllmServers } from './vllm-servers.ts'

/**
 * `npm run e2e:model`: the harness, the same requests through a bare client, docstrings in one turn, a run of the example, and
 * runs with an objective against a real server with a small real model, installed outside of the repository. Not part of the tests: it downloads
 * 300 MB for llama.cpp and 5 GB for vLLM, and keeps the processor busy for hours; `--servers llama` measures the one,
 * `--parts harness` the one part. What was measured is kept beside the model, and `--again` measures it anew. Writes
 * bench/results/real-servers.md and RESULTS.md; with `--quick` it only prints. Ctrl-C ends what it started.
 */
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    requests: { type: 'string', default: '2' },
    limit: { type: 'string', default: '10' },
    docstrings: { type: 'string', default: '50' },
    prompts: { type: 'string', default: '40' },
    objectives: { type: 'string', default: '5' },
    shapes: { type: 'string' },
    agents: { type: 'string', default: 'harness,docstring' },
    servers: { type: 'string', default: 'llama,vllm' },
    parts: { type: 'string', default: Object.keys(parts).join(',') },
  },
})
const measures = {
  requests: Number(values.requests),
  limit: Number(values.limit),
  docstrings: Number(values.docstrings),
  prompts: Number(values.prompts),
  objectives: Number(values.objectives),
  shapes: values.shapes,
  agents: values.agents,
}
/** The time limit of one program: a model that never stops must not delay the rest. */
const limitMs = 2 * 60 * 60_000

/** The servers, by the names that `--servers` takes. */
const makers = new Map([
  ['llama', llamaServers],
  ['vllm', vllmServers],
])

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(`stopped by ${name}`)))

const figures = await openFigures(join(serverFolder(), 'figures.json'))

async function measureServer(plan: ServerPlan): Promise<ServerFigures> {
  console.log(`== ${plan.name}`)
  const wanted = partNames().filter((name) => values.again || figures.of(plan.name)[name] === undefined)
  if (wanted.length > 0) await measureParts(plan, wanted)
  return { plan, ...figures.of(plan.name) }
}

function partNames(): PartName[] {
  const known: PartName[] = ['harness', 'bare_required', 'bare_auto', 'docstring', 'run', 'prefix', 'objective']
  const wanted = values.parts.split(',')
  const unknown = wanted.find((name) => !known.some((one) => one === name))
  if (unknown !== undefined) throw new Error(`--parts takes ${known.join(', ')}, not ${unknown}`)
  return known.filter((name) => wanted.includes(name))
}

async function measureParts(plan: ServerPlan, wanted: readonly PartName[]): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-e2e-model-'))
  const server = await startServer(plan)
  try {
    const order = { url: server.url, dir, slots: serverSettings.slots, limitMs, signal: stop.signal }
    for (const name of wanted) {
      const measured = { [name]: await parts[name](order, measures), measured: new Date().toISOString().slice(0, 10) }
      await figures.keep(plan.name, measured)
      console.log(JSON.stringify(measured))
    }
  } finally {
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  }
}

/** A server that cannot be installed here is left out, and the results give the reason. */
async function planServers(): Promise<{ plans: ServerPlan[]; missing: string[] }> {
  const plans: ServerPlan[] = []
  const missing: string[] = []
  for (const name of values.servers.split(',')) {
    const make = makers.get(name)
    if (make === undefined) throw new Error(`--servers takes ${[...makers.keys()].join(', ')}, not ${name}`)
    try {
      plans.push(...(await make(serverFolder(), stop.signal)))
    } catch (error) {
      stop.signal.throwIfAborted()
      const why = error instanceof Error ? error.message : String(error)
      missing.push(`${name}: ${why.slice(-600)}`)
      console.error(`cannot be installed here: ${missing.at(-1)}`)
    }
  }
  return { plans, missing }
}

async function measureAll(): Promise<void> {
  const { plans, missing } = await planServers()
  const measured: ServerFigures[] = []
  for (const plan of plans) measured.push(await measureServer(plan))
  const text = renderModel(serverSettings, measured, missing)
  console.log(text)
  if (values.quick) return
  const bench = new URL('../../bench/', import.meta.url)
  await mkdir(new URL('results/', bench), { recursive: true })
  await writeFile(new URL('results/real-servers.md', bench), text)
  await writeFile(new URL('RESULTS.md', bench), await assembleResults(resultSections))
}

await measureAll().catch((error: unknown) => {
  if (!stop.signal.aborted) throw error
  console.error('stopped; the server has ended')
  process.exitCode = 130
})
