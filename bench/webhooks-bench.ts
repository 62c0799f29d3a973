import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { Agent, request } from 'undici'
import { delay } from '#platform/clock.ts'
import { boundPort } from '#platform/http-health.ts'
import { openPrograms, type Programs } from '../tests/program.ts'
import { isReady, type Service, startStores, storeEnv } from '../tests/services.ts'
import { webhookExamples, webhookHeaders } from '../services/api/routes/webhooks/webhook-examples.fixture.ts'
import { median, notProved, saveReport, sectionHead, table, verdict } from './reports/markdown-report.ts'

/**
 * `node bench/webhooks-bench.ts`: how soon webhooks of GitHub are answered that come at a steady rate, beside a receiver that only
 * checks their signature. Writes results/webhooks.md; with `--quick` it only prints, of one short round.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const perSecond = 200
const seconds = quick ? 3 : 15
const rounds = quick ? 1 : 3
const aimMs = 100
const secret = 'only-for-the-webhooks-bench'
const receivers = ['remora', 'bare'] as const
type Receiver = (typeof receivers)[number]
type Round = { sortedMs: number[]; refused: number }
type Row = { name: Receiver; rounds: Round[] }
type Message = { event: string; body: string }

const bareReceiver = relative(
  fileURLToPath(new URL('..', import.meta.url)),
  fileURLToPath(new URL('./webhooks/bare-receiver-main.ts', import.meta.url)),
)

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = boundPort(server)
  server.close()
  return port
}

async function startReceiver(programs: Programs, name: Receiver, env: Record<string, string>): Promise<Service> {
  const [port, health] = [await freePort(), await freePort()]
  const ports = { REMORA_API_PORT: String(port), REMORA_API_HEALTH_PORT: String(health) }
  const program =
    name === 'bare'
      ? programs.start([bareReceiver, String(port), secret], { env: {} })
      : programs.start(['scripts/service.mjs', 'api'], { env: { ...env, ...ports, REMORA_LOG_LEVEL: 'warn' } })
  const service = { ...program, name, origin: `http://127.0.0.1:${port}` }
  await isReady(service)
  return service
}

/** Each webhook goes at its time, whatever became of those before; how long it took counts from that time. */
async function send(origin: string, messages: readonly Message[], count: number): Promise<Round> {
  const agent = new Agent({ connections: perSecond })
  const startedAt = performance.now()
  const took: number[] = []
  let refused = 0
  const sendOne = async ({ event, body }: Message, dueAt: number) => {
    const headers = webhookHeaders(body, { secret, event, deliveryId: randomUUID() })
    const answer = await request(`${origin}/webhooks/github`, { method: 'POST', headers, body, dispatcher: agent })
    await answer.body.dump()
    took.push(performance.now() - dueAt)
    if (answer.statusCode !== 202) refused += 1
  }
  const sent: Promise<void>[] = []
  for (let at = 0; at < count; at++) {
    const dueAt = startedAt + (at * 1_000) / perSecond
    if (performance.now() < dueAt) await delay(dueAt - performance.now())
    const message = messages[at % messages.length]
    if (message !== undefined) sent.push(sendOne(message, dueAt))
  }
  await Promise.all(sent)
  await agent.close()
  return { sortedMs: took.toSorted((one, other) => one - other), refused }
}

const quantile = (share: number) => (row: Row) => {
  const of = row.rounds.map(({ sortedMs }) => sortedMs[Math.ceil(sortedMs.length * share) - 1] ?? Number.NaN)
  return `${median(of).toFixed(1)} (${Math.min(...of).toFixed(1)}–${Math.max(...of).toFixed(1)})`
}
const p99 = ({ rounds: all }: Row) =>
  all.map(({ sortedMs }) => sortedMs[Math.ceil(sortedMs.length * 0.99) - 1] ?? Number.NaN)

const programs = openPrograms()
const stores = await startStores()
const client = new Redis(stores.redisUrl)
try {
  const examples = (await webhookExamples()).map(({ event, payload }) => ({ event, body: JSON.stringify(payload) }))
  const keys = { REMORA_SIGNING_KEY: 'a-signing-key-for-this-bench-alone', REMORA_GITHUB_WEBHOOK_SECRET: secret }
  const env = { ...storeEnv(stores), REMORA_TOKEN: 'only-for-this-bench-000', ...keys }
  const rows = receivers.map((name): Row => ({ name, rounds: [] }))
  const services = {
    remora: await startReceiver(programs, 'remora', env),
    bare: await startReceiver(programs, 'bare', {}),
  }
  for (const { name } of rows) await send(services[name].origin, examples, 2 * perSecond)
  for (let round = 0; round < rounds; round++)
    for (const row of rows) row.rounds.push(await send(services[row.name].origin, examples, seconds * perSecond))
  const kept = await client.xlen('remora:{github}:inbox')
  const sent = 2 * perSecond + rounds * seconds * perSecond
  const refused = rows.flatMap((row) => row.rounds).reduce((sum, one) => sum + one.refused, 0)
  const faults = [
    ...(kept === sent ? [] : [`${sent - kept} webhooks were lost.`]),
    ...(refused === 0 ? [] : [`${refused} webhooks were not answered with 202.`]),
  ]
  const worst = Math.max(...rows.filter(({ name }) => name === 'remora').flatMap(p99))
  const sizes = examples.map(({ body }) => Buffer.byteLength(body))
  const redisVersion = /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? 'unknown'
  const text = `${sectionHead('Webhooks of GitHub', { command: 'node bench/webhooks-bench.ts', redisVersion })}
${perSecond} webhooks a second for ${seconds} s, each sent at its time and timed until its answer is whole. They are the ${examples.length} payloads of @octokit/webhooks-examples in turn (median ${median(sizes)} bytes, at most ${Math.max(...sizes)}),
signed, each with an id of its own. \`remora\` is the API as a process, which writes them to Redis. \`bare\` is Hono on the
same server, which checks the signature and answers. Medians (least–most) of ${rounds} rounds, in turn.

${table<Row>(
  [
    ['', ({ name }) => name],
    ['p50, ms', quantile(0.5)],
    ['p99, ms', quantile(0.99)],
    ['slowest, ms', quantile(1)],
  ],
  rows,
)}
${notProved(faults)}
The aim for the p99 is ${aimMs} ms: ${verdict(worst <= aimMs)} (${worst.toFixed(1)} ms in the worst round). At the end ${kept} of the ${sent} webhooks that \`remora\` was sent were in its inbox.
`
  await saveReport('webhooks', text, { quick })
} finally {
  client.disconnect()
  await programs.end()
  await stores.stop()
}
