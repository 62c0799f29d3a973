import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { delay } from '#platform/clock.ts'
import { leanMemory } from '#platform/lean-memory.mjs'
import { openPrograms, type Programs } from '../tests/program.ts'
import { isReady, type Service, startStores, storeEnv, type Stores } from '../tests/services.ts'
import { median, saveReport, sectionHead, spread, table } from './reports/markdown-report.ts'

/**
 * `node bench/start-bench.ts`: how long a service takes from its start until it is ready, with the files of the container image
 * and with stores that are up. Writes results/start.md; with `--quick` it only prints, of one start each.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const starts = quick ? 1 : 7
const services = ['api', 'discovery', 'worker', 'rehearsal'] as const
type Name = (typeof services)[number]
type Row = { name: Name; starts: number[] }

/** As infra/Dockerfile sets it. */
const imageEnv = (app: string, cache: string) => ({
  ...leanMemory,
  NODE_ENV: 'production',
  NODE_COMPILE_CACHE: cache,
  REMORA_AGENTS_DIR: join(app, 'dist/agents'),
})

/** A service takes a free port, and says which once it has started. */
const anyPorts = {
  REMORA_API_PORT: '0',
  REMORA_API_HEALTH_PORT: '0',
  REMORA_DISCOVERY_HEALTH_PORT: '0',
  REMORA_WORKER_HEALTH_PORT: '0',
  REMORA_REHEARSAL_PORT: '0',
}
const portSaid = /"(?:health_port":|url":"http:\/\/127\.0\.0\.1:)(\d+)\b[^\n]*\n/
const limitMs = 60_000

async function startService(
  programs: Programs,
  name: Name,
  app: string,
  env: Record<string, string>,
): Promise<Service> {
  const program = programs.start(['scripts/service.mjs', name], { env: { ...env, ...anyPorts }, checkout: app })
  for (const startedAt = performance.now(); performance.now() - startedAt < limitMs;) {
    const port = portSaid.exec(program.out() + program.err())?.[1]
    const service = { ...program, name, origin: `http://127.0.0.1:${port}` }
    if (port !== undefined) return isReady(service).then(() => service)
    if (!program.running()) throw new Error(`${name} ended: ${program.err().slice(-2000)}`)
    await delay(5)
  }
  throw new Error(`${name} has not started: ${program.err().slice(-2000)}`)
}

async function millisecondsToReady(programs: Programs, name: Name, app: string, env: Record<string, string>) {
  const startedAt = performance.now()
  const service = await startService(programs, name, app, env)
  const took = performance.now() - startedAt
  service.kill('SIGTERM')
  await service.exited
  return took
}

async function measure(programs: Programs, stores: Stores, app: string, cache: string): Promise<Row[]> {
  const image = {
    ...imageEnv(app, cache),
    ...storeEnv(stores),
    REMORA_TOKEN: 'only-for-this-bench-000',
    REMORA_SIGNING_KEY: 'a-signing-key-for-this-bench-alone',
  }
  const model = await startService(programs, 'rehearsal', app, image)
  const env = { ...image, REMORA_MODEL_URLS: `${model.origin}/v1` }
  const rows = services.map((name): Row => ({ name, starts: [] }))
  // A service writes what it has compiled when it ends.
  for (const { name } of rows) await millisecondsToReady(programs, name, app, env)
  for (let round = 0; round < starts; round++)
    for (const row of rows) row.starts.push(await millisecondsToReady(programs, row.name, app, env))
  return rows
}

const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
const programs = openPrograms()
const stores = await startStores()
try {
  const app = `${join(dir, 'app')}/`
  const built = programs.start(['scripts/build-image.ts', app], { env: {} })
  if ((await built.exited) !== 0) throw new Error(built.err())
  const rows = await measure(programs, stores, app, join(dir, 'cache'))
  const worker = median(rows.find(({ name }) => name === 'worker')?.starts ?? [])
  const text = `${sectionHead('How long a service takes to start', { command: 'node bench/start-bench.ts' })}
From the start of the process until \`/readyz\` says that it is ready, with the files of the container image, one service at a time.
Redis, the S3 server and, for the worker, the rehearsal model are up. Modules are compiled, as the image has them for its user.
Medians (least–most) of ${starts} starts.

${table<Row>(
  [
    ['', ({ name }) => name],
    ['ready after, ms', spread(({ starts: all }) => all, 0)],
  ],
  rows,
)}

The aim for a worker is 2 s: ${worker <= 2000 ? 'met' : 'missed'} (${(worker / 1000).toFixed(2)} s). What a container's runtime takes to start it comes on top.
`
  await saveReport('start', text, { quick })
} finally {
  await programs.end()
  await stores.stop()
  await rm(dir, { recursive: true, force: true })
}
