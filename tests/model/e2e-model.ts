import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { assembleResults } from '../../bench/assemble-results.ts'
import { resultSections } from '../../bench/result-sections.ts'
import { installServer, serverFolder, type InstalledServer } from './install-server.ts'
import { measureHarness } from './measure-harness.ts'
import { measureRun } from './measure-run.ts'
import { renderModel, type ServerFigures } from './render-model.ts'
import { serverSettings, startServer } from './start-server.ts'

/**
 * `npm run e2e:model`: the harness and a run of the example against a real server with a small real model, installed
 * outside of the repository. Not part of the tests: it downloads 300 MB and keeps the processor busy for half an hour. Writes
 * bench/results/real-servers.md and RESULTS.md; with `--quick` it only prints. Ctrl-C ends what it started.
 */
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    requests: { type: 'string', default: '2' },
    limit: { type: 'string', default: '10' },
    shapes: { type: 'string' },
    agents: { type: 'string', default: 'harness,docstring' },
  },
})
const [requests, limit] = [Number(values.requests), Number(values.limit)]
/** Of one program: a model that never stops must not hold the rest. */
const limitMs = 40 * 60_000

const servers = [
  {
    name: 'llama.cpp, its own template',
    template: undefined,
    different:
      'nothing. The model file has no chat template, so the server takes ChatML and ignores `tools` and every ' +
      '`tool_choice` without a word; calls can only be had as text held to a schema.',
  },
  {
    name: 'llama.cpp, a template with tools',
    template: new URL('./gemma-tools.jinja', import.meta.url),
    different:
      'the chat template tests/model/gemma-tools.jinja. `required` then forbids only to end without a call: any text may ' +
      'come before it, without end.',
  },
]

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(`stopped by ${name}`)))

async function measureServer(
  installed: InstalledServer,
  { name, template, different }: (typeof servers)[number],
): Promise<ServerFigures> {
  console.log(`== ${name}`)
  const dir = await mkdtemp(join(tmpdir(), 'remora-e2e-model-'))
  const server = await startServer(installed, template)
  try {
    const order = { url: server.url, dir, slots: serverSettings.slots, limitMs, signal: stop.signal }
    const harness = await measureHarness(order, { requests, shapes: values.shapes })
    return { name, different, harness, run: await measureRun(order, values.agents, limit) }
  } finally {
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  }
}

async function measureAll(): Promise<void> {
  const installed = await installServer(serverFolder(), stop.signal)
  const figures: ServerFigures[] = []
  for (const server of servers) {
    const measured = await measureServer(installed, server)
    console.log(JSON.stringify({ name: measured.name, harness: measured.harness.sides[0].total, run: measured.run }))
    figures.push(measured)
  }
  const text = renderModel({ ...serverSettings, packages: installed.packages }, figures)
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
