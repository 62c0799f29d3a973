import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import { redisVersion } from './ledger/bench-ledger.ts'
import { type Column, saveReport, sectionHead, table, verdict } from './reports/markdown-report.ts'
import { openPrograms, type Programs } from '../tests/program.ts'
import { isReady, type Services, startServices, startStores } from '../tests/services.ts'
import { sourceFolder } from '../tests/source-folder.ts'

/**
 * `node bench/outage-services-bench.ts`: api, discovery, worker and the rehearsal model (no LLM) as processes of their own;
 * one run of lint over 21,347 nodes, during which the model is away three times for 180 s, and a run of 50 nodes submitted
 * each time. Writes results/outage-services.md; with `--quick` it only prints, for 2,000 nodes and 45 s.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const [nodes, awayS] = quick ? [2_000, 45] : [21_347, 180]
const functionsPerFile = 40
const meanwhile = 50
/** 192 operations are open with them. */
const slots = 64
const latencyMs = 500
const beforeAway = 200
const pollMs = 500
const outages = ['refused', '503', 'hang'] as const

type Outage = (typeof outages)[number]
type OutageRow = {
  how: Outage
  /** When it went away. */
  open: number
  /** Operations of the large run that failed or were blocked until the next outage or its end. */
  lost: number
  lostMeanwhile: number
  waitingAfterS: number
  /** From the model's return to the first operation of the large run that ended well. */
  firstEndS: number
}

const RunState = z.looseObject({
  status: z.string(),
  counts: z.record(z.string(), z.int()),
})
type RunState = z.infer<typeof RunState>

const range = (length: number) => [...Array(length).keys()]

/** Functions with a fault that only a model may mend: the rehearsal model looks at it and leaves it. */
function faultyFunctions(): string {
  return range(functionsPerFile)
    .map((at) => `def is_sold_${at}(item):\n    return item.buyer == None\n`)
    .join('\n\n')
}
const settings = {
  'ruff.toml': '[lint]\nselect = ["E7"]\n',
  'remora.yaml': 'agents:\n  settings: { lint: { depth: model } }\n',
}

const ended = ['completed', 'failed', 'cancelled']
const lostOf = ({ counts }: RunState) => (counts['failed'] ?? 0) + (counts['blocked'] ?? 0) + (counts['skipped'] ?? 0)
const doneOf = ({ counts }: RunState) => (counts['succeeded'] ?? 0) + (counts['unchanged'] ?? 0)
const openOf = ({ counts }: RunState) => (counts['running'] ?? 0) + (counts['dispatched'] ?? 0)
const secondsSince = (at: number) => (performance.now() - at) / 1000

function openRuns({ api }: Services) {
  const stateOf = async (runId: string) => RunState.parse(await (await api.ask(`/v1/runs/${runId}`)).json())
  return {
    stateOf,
    async submit(count: number) {
      const texts = range(Math.ceil(count / functionsPerFile)).map((at) => [`src/stock_${at}.py`, faultyFunctions()])
      const folder = await sourceFolder({ ...settings, ...Object.fromEntries(texts) })
      const runId = await api.submit(await folder.pack(), { agents: ['lint'], limits: { operations: count } })
      await folder.remove()
      return runId
    },
    async until(runId: string, condition: (state: RunState) => boolean) {
      for (;;) {
        const state = await stateOf(runId)
        if (condition(state) || ended.includes(state.status)) return state
        await delay(pollMs)
      }
    },
  }
}

/** Makes the rehearsal model go away and come back. */
function openModel(services: Services, programs: Programs) {
  let model = services.named('rehearsal')
  const set = async (what: 'latency' | 'faults', body: object) => {
    const answer = await fetch(`${model.origin}/${what}`, { method: 'POST', body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`the rehearsal model refused ${what}: ${answer.status}`)
  }
  return {
    async goAway(how: Outage) {
      if (how !== 'refused') return set('faults', { shares: { [how]: 1 } })
      model.kill('SIGKILL')
      await model.exited
    },
    async comeBack(how: Outage) {
      if (how !== 'refused') return set('faults', { shares: {} })
      const env = { REMORA_REHEARSAL_PORT: new URL(model.origin).port, REMORA_REHEARSAL_LATENCY_MS: String(latencyMs) }
      model = { ...model, ...programs.start(['scripts/service.mjs', 'rehearsal'], { env }) }
      await isReady(model)
    },
    slow: () => set('latency', { ms: latencyMs }),
  }
}

async function measure(): Promise<{ rows: OutageRow[]; large: RunState; redis: string }> {
  const programs = openPrograms()
  const stores = await startStores()
  try {
    const services = await startServices(programs, stores, { workerEnv: { REMORA_WORKER_SLOTS: String(slots) } })
    const [runs, model] = [openRuns(services), openModel(services, programs)]
    await model.slow()
    const large = await runs.submit(nodes)
    const rows: OutageRow[] = []
    for (const how of outages) {
      const before = await runs.stateOf(large)
      await runs.until(large, (state) => doneOf(state) >= doneOf(before) + beforeAway)
      const { counts } = await runs.stateOf(large)
      await model.goAway(how)
      const awayAt = performance.now()
      await delay(30_000)
      const small = await runs.submit(meanwhile)
      await runs.until(small, ({ status }) => status === 'waiting' || secondsSince(awayAt) > awayS)
      const waits = await runs.until(large, ({ status }) => status === 'waiting' || secondsSince(awayAt) > awayS)
      const waitingAfterS = secondsSince(awayAt)
      await delay(Math.max(0, awayAt + awayS * 1000 - performance.now()))
      await model.comeBack(how)
      const backAt = performance.now()
      await runs.until(large, (state) => doneOf(state) > doneOf(waits))
      const firstEndS = secondsSince(backAt)
      const smallEnd = await runs.until(small, () => false)
      const now = await runs.stateOf(large)
      rows.push({
        how,
        open: openOf({ status: '', counts }),
        lost: lostOf(now) - lostOf({ status: '', counts }),
        lostMeanwhile: meanwhile - doneOf(smallEnd),
        waitingAfterS,
        firstEndS,
      })
      console.log(JSON.stringify(rows.at(-1)))
    }
    const end = await runs.until(large, () => false)
    const redis = new Redis(stores.redisUrl)
    const version = await redisVersion(redis)
    redis.disconnect()
    return { rows, large: end, redis: version }
  } finally {
    await programs.end()
    await stores.stop()
  }
}

const columns: readonly Column<OutageRow>[] = [
  ['the model', ({ how }) => how],
  ['open then', ({ open }) => open],
  ['failed or blocked of the large run', ({ lost }) => lost],
  [`not done of the ${meanwhile} submitted meanwhile`, ({ lostMeanwhile }) => lostMeanwhile],
  ['both wait after, s', ({ waitingAfterS }) => waitingAfterS.toFixed(1)],
  ['first operation done after its return, s', ({ firstEndS }) => firstEndS.toFixed(1)],
]

const { rows, large, redis } = await measure()
const lost = rows.reduce((sum, row) => sum + row.lost + row.lostMeanwhile, lostOf(large))
const command = 'node bench/outage-services-bench.ts'
await saveReport(
  'outage-services',
  `${sectionHead('A model that is away, four services', { command, redisVersion: redis })}
api, discovery, one worker and the rehearsal model (no LLM; ${latencyMs} ms per reply) as processes, ${slots} slots; one run of
lint over ${nodes} nodes; the model is away three times for ${awayS} s, and a run of ${meanwhile} nodes is submitted 30 s after it went.

${table(columns, rows)}

The large run ended \`${large.status}\` with ${doneOf(large)} of ${nodes} operations done and ${lostOf(large)} failed, blocked or skipped. None is
to be lost: ${verdict(lost === 0 && doneOf(large) === nodes)}.
`,
  { quick },
)
process.exitCode = lost === 0 ? 0 : 1
