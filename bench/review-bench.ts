import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import { openLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { accessToken } from '../services/api/api-config.ts'
import { startApi } from '../services/api/api-service.ts'
import { startFakeModel } from './model/start-fake-model.ts'
import { type BenchStack, openBenchStack } from './remora/bench-stack.ts'
import { startBenchWorker } from './remora/bench-worker.ts'
import { settledRun } from './remora/settled-run.ts'
import { saveReport } from './reports/markdown-report.ts'
import { type Reviewed, renderReview } from './reports/review-report.ts'

/**
 * `node bench/review-bench.ts`: how long a team waits for its decisions and for the patch of what it accepted, over HTTP.
 * Writes results/review.md; with `--quick` it only prints, of fewer change sets.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const perFile = 5
const scale = quick ? { sets: 100, rounds: 1, singles: 3 } : { sets: 1_000, rounds: 3, singles: 15 }
const numbersPerRun = 1_000_000
const pollMs = 20
const token = 'the-token-of-the-bench'
const agentsDir = fileURLToPath(new URL('../agents', import.meta.url))

const Changes = z.object({
  changes: z.array(z.looseObject({ change_set_id: z.string() })),
  next: z.string().nullable(),
})
const Decided = z.looseObject({ made: z.int(), refused_count: z.int() })

function openClient(url: string) {
  const ask = async (path: string, body?: object): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(`${url}/v1/runs/${path}`, init)
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return answer
  }
  return {
    async changeSets(runId: string): Promise<string[]> {
      const ids: string[] = []
      for (let from: string | null = ''; from !== null;) {
        const page = Changes.parse(await (await ask(`${runId}/changes?limit=100${from}`)).json())
        ids.push(...page.changes.map((one) => one.change_set_id))
        from = page.next === null ? null : `&cursor=${page.next}`
      }
      return ids
    },
    async decide(runId: string, verdict: 'accept' | 'undo', ids: readonly string[]): Promise<void> {
      const decisions = ids.map((change_set_id) => ({ change_set_id, verdict }))
      const { made } = Decided.parse(await (await ask(`${runId}/decisions`, { decisions })).json())
      if (made !== ids.length) throw new Error(`${made} of ${ids.length} decisions were made`)
    },
    patch: async (runId: string) => (await (await ask(`${runId}/patch?of=accepted`)).text()).length,
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

async function composedRun(stack: BenchStack, round: number): Promise<string> {
  const runId = await settledRun(stack, { first: round * numbersPerRun, operations: scale.sets, perFile, culprits: 0 })
  stack.allowComposition(runId)
  while ((await stack.ledger.getRun(runId)).status === 'running') await delay(pollMs)
  return runId
}

/** Another API process has none of the change sets in memory: `cold`. */
async function reviewOne(
  runId: string,
  client: ReturnType<typeof openClient>,
  ids: readonly string[],
): Promise<Reviewed> {
  const decideMs = await timed(() => client.decide(runId, 'accept', ids))
  const patchMs = await timed(() => client.patch(runId))
  const [acceptMs, nextPatchMs]: [number[], number[]] = [[], []]
  for (const id of ids.slice(0, scale.singles)) {
    await client.decide(runId, 'undo', [id])
    await client.patch(runId)
    acceptMs.push(await timed(() => client.decide(runId, 'accept', [id])))
    nextPatchMs.push(await timed(() => client.patch(runId)))
  }
  return { decideMs, patchMs, acceptMs, nextPatchMs }
}

const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
const model = await startFakeModel({ latencyMs: { least: 0, most: 0 }, slots: 1 })
const stack = await openBenchStack(dir)
const log = openLog({ service: 'bench', level: 'warn' })
const { s3, redis } = stack
const events = { maxInlineBytes: 16_384 }
const storage = { redisUrl: redis.url, events, s3: { ...s3, credentials: s3 } }
const startOne = () =>
  startApi(
    {
      host: '127.0.0.1',
      port: 0,
      health: { host: '127.0.0.1', port: 0 },
      tokens: [accessToken(token)],
      signingKeys: ['a-signing-key-for-this-bench-alone'],
      agentsDir,
      allowsSetups: false,
      github: { webhookSecret: undefined, host: 'github.com', hasPublisher: false },
      redisMemoryShare: 0.8,
      fullPrompts: true,
      maxUploadBytes: 1_000_000,
      maxUploads: 1,
      requestsPerSecond: 0,
      tokenLimits: { requestsPerMinute: null, runs: null },
      maxConnections: 100,
      traces: { endpoint: undefined, headers: {}, share: 0 },
      storage,
    },
    { log, redactor: openRedactor() },
  )
try {
  const worker = await startBenchWorker(stack, { modelUrl: model.url, slots: 4 })
  const rounds: Reviewed[] = []
  for (let round = 0; round < scale.rounds; round++) {
    const runId = await composedRun(stack, round + 1)
    const looking = await startOne()
    const ids = await openClient(looking.url).changeSets(runId)
    await looking.close()
    const api = await startOne() // knows nothing of the run yet
    rounds.push(await reviewOne(runId, openClient(api.url), ids))
    await api.close()
  }
  await worker.stop()
  const files = Math.ceil(scale.sets / perFile)
  await saveReport('review', renderReview({ ...scale, files, rounds, redisVersion: stack.redisVersion }), { quick })
} finally {
  await stack.close()
  await model.stop()
  await rm(dir, { recursive: true, force: true })
}
