import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { z } from 'zod'
import { repository } from '../program.ts'

const Percentiles = z.object({ p50: z.number(), p95: z.number() }).nullable()
const Side = z.object({
  total: z.object({
    requests: z.int(),
    called: z.number(),
    right_tool: z.number(),
    right_arguments: z.number(),
    submitted: z.number(),
    parsed_from_content: z.number(),
  }),
  latency_ms: z.object({ first_reply: Percentiles, agent: Percentiles }),
  replies: z.int(),
  tokens: z.object({ prompt: z.int(), completion: z.int(), per_s: z.number(), per_s_of_reply: z.number() }),
  workarounds: z.record(z.string(), z.int()),
  errors: z.array(z.object({ code: z.string(), message: z.string(), count: z.int() })),
})
/** What `remora harness --out` writes of one server: docs/guide/harness.md. */
const HarnessReport = z.object({ requests_per_prompt: z.int(), duration_ms: z.number(), sides: z.tuple([Side], Side) })
export type HarnessReport = z.infer<typeof HarnessReport>

export type ModelOrder = { url: string; dir: string; slots: number; limitMs: number; signal: AbortSignal }

/** A processor that others use, too, must not count against the model: what a real user would wait is not measured here. */
export const requestLimitS = 900
/** Enough for every call of the harness; a small model that does not call continues until it is cut off. */
export const maxTokens = 128

/** `remora harness` against one server. Rates below its own aim are a figure here, not a failure. */
export async function measureHarness(
  order: ModelOrder,
  { requests, shapes }: { requests: number; shapes: string | undefined },
): Promise<HarnessReport> {
  const { url, dir, slots, limitMs, signal } = order
  const out = join(dir, 'harness.json')
  await rm(out, { force: true })
  const counts = [
    '--requests',
    requests,
    '--concurrency',
    slots,
    '--timeout',
    requestLimitS,
    '--max-tokens',
    maxTokens,
  ].map(String)
  const chosen = shapes === undefined ? [] : ['--shapes', shapes]
  const args = ['harness', '--model', url, ...counts, ...chosen, '--json', '--out', out]
  const { code } = await runRemora(args, { cwd: dir, env: {}, limitMs, signal })
  const text = await readFile(out, 'utf8').catch(() => undefined)
  if (text === undefined) throw new Error(`remora harness ended with ${code} and wrote no report`)
  return HarnessReport.parse(JSON.parse(text))
}

type Ended = { code: number | null; out: string }

/** A run's own services need a moment to end; after that they are killed. */
const stopLimitMs = 30_000

/** `npx remora …` in `cwd`, with nothing of this environment but PATH and HOME; its standard error goes to this terminal. */
async function runRemora(
  args: readonly string[],
  { cwd, env, limitMs, signal }: { cwd: string; env: Record<string, string>; limitMs: number; signal: AbortSignal },
): Promise<Ended> {
  signal.throwIfAborted()
  console.log(`remora ${args.join(' ')}`)
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [`${repository}cli/remora.mjs`, ...args], {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = once(child, 'close')
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)])
  const onAbort = () => {
    child.kill('SIGINT')
    AbortSignal.timeout(stopLimitMs).addEventListener('abort', () => child.kill('SIGKILL'))
  }
  limit.addEventListener('abort', onAbort)
  await ended
  limit.removeEventListener('abort', onAbort)
  signal.throwIfAborted()
  return { code: child.exitCode, out: Buffer.concat(chunks).toString('utf8') }
}

const RunEvent = z.object({
  event: z.string(),
  status: z.string(),
  duration_ms: z.number().optional(),
  error_code: z.string().optional(),
  data: z.record(z.string(), z.unknown()).default({}),
})
export type RunEvent = z.infer<typeof RunEvent>

/** Figures of the model, from the events of a run. */
export type RunFigures = {
  exitCode: number | null
  operations: number
  /** By how they ended, and by the code of their error. */
  endings: Record<string, number>
  replies: number
  repliesWithCall: number
  /** Calls of tools other than submit_result, and those whose tool was there and took the arguments. */
  toolCalls: number
  carriedOut: number
  submissions: number
  validSubmissions: number
  completionTokens: number
  tokensPerSecondOfReply: number
  /** What tools refused, by the reason. */
  refused: Record<string, number>
  /** The docstrings of the proposed patch. */
  docstrings: string[]
}

const refusals = new Set(['TOOL_001', 'TOOL_002', 'AGENT_009'])

export type RunOrder = {
  /** The folder that a copy is made of. */
  source: string
  agents: string
  limit: number
  objective?: string
  env?: Record<string, string>
}

/** `remora run` over a copy of a folder against one server. */
export async function measureRun(order: ModelOrder, run: RunOrder) {
  const { code, events, patch } = await playRun(order, run)
  return { ...figuresOf(code, events), docstrings: addedDocstrings(patch) }
}

/** Returns what such a run has told, and its patch, which is empty where there is none. */
export async function playRun(
  order: ModelOrder,
  { source: original, agents, limit, objective, env: own }: RunOrder,
): Promise<{ code: number | null; events: RunEvent[]; patch: string }> {
  const { url, dir, slots, limitMs, signal } = order
  const source = join(dir, 'source')
  await rm(source, { recursive: true, force: true })
  await cp(original, source, { recursive: true })
  const events = join(dir, 'events.jsonl')
  const patch = join(dir, 'proposed.patch')
  for (const file of [events, patch]) await rm(file, { force: true })
  const files = ['--events-to', events, '--out', patch]
  const wanted = objective === undefined ? [] : ['--objective', objective]
  const sizes = ['--limit', String(limit), '--workers', '1']
  const args = ['run', '.', ...wanted, '--agents', agents, ...sizes, '--json', ...files]
  const timeout = { REMORA_MODEL_TIMEOUT_MS: String(requestLimitS * 1000) }
  const env = { REMORA_MODEL_URLS: url, REMORA_WORKER_SLOTS: String(slots), ...timeout, ...own }
  const { code } = await runRemora(args, { cwd: source, env, limitMs, signal })
  const lines = (await readFile(events, 'utf8')).split('\n').filter((line) => line !== '')
  const read = lines.map((line) => RunEvent.parse(JSON.parse(line)))
  return { code, events: read, patch: await readFile(patch, 'utf8').catch(() => '') }
}

function addedDocstrings(patch: string): string[] {
  const added = patch.split('\n').flatMap((line) => (/^\+(?!\+\+ )/.test(line) ? [line.slice(1)] : []))
  return [...added.join('\n').matchAll(/"""([\s\S]*?)"""/g)].map(([, text = '']) => text.trim())
}

function figuresOf(exitCode: number | null, events: readonly RunEvent[]): Omit<RunFigures, 'docstrings'> {
  const named = (name: string) => events.filter(({ event }) => event === name)
  const replies = named('model.responded').filter(({ status }) => status === 'ok')
  const ended = named('operation.ended')
  const endings: Record<string, number> = {}
  for (const { data, error_code: code } of ended) {
    const ending = [data['status'], code].filter((part) => typeof part === 'string').join(' ')
    endings[ending] = (endings[ending] ?? 0) + 1
  }
  const returned = named('tool.returned')
  const refused: Record<string, number> = {}
  for (const { data } of returned) {
    if (data['outcome'] !== 'error') continue
    const why = String(data['summary'])
    refused[why] = (refused[why] ?? 0) + 1
  }
  const submissions = named('submission.received')
  const completionTokens = sum(replies.map(({ data }) => Number(data['completion_tokens'] ?? 0)))
  const waitedMs = sum(replies.map((reply) => reply.duration_ms ?? 0))
  return {
    exitCode,
    operations: ended.length,
    endings,
    replies: replies.length,
    repliesWithCall: replies.filter(({ data }) => Number(data['calls'] ?? 0) > 0).length,
    toolCalls: returned.length,
    carriedOut: returned.filter(({ error_code: code }) => code === undefined || !refusals.has(code)).length,
    refused,
    submissions: submissions.length,
    validSubmissions: submissions.filter(({ status }) => status === 'ok').length,
    completionTokens,
    tokensPerSecondOfReply: waitedMs === 0 ? 0 : (completionTokens * 1000) / waitedMs,
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
