import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { repository } from '../e2e/program.ts'
import type { ModelOrder } from './measure-harness.ts'
import { runRemora } from './run-program.ts'

const RunEvent = z.object({
  event: z.string(),
  status: z.string(),
  duration_ms: z.number().optional(),
  error_code: z.string().optional(),
  data: z.record(z.string(), z.unknown()).default({}),
})
type RunEvent = z.infer<typeof RunEvent>

/** What the events of a run say of the model. */
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
}

const refusals = new Set(['TOOL_001', 'TOOL_002', 'AGENT_009'])

/** `remora run` over a copy of examples/inventory against one server. */
export async function measureRun(order: ModelOrder, agents: string, limit: number): Promise<RunFigures> {
  const { url, dir, slots, limitMs, signal } = order
  const source = join(dir, 'inventory')
  await rm(source, { recursive: true, force: true })
  await cp(join(repository, 'examples/inventory'), source, { recursive: true })
  const events = join(dir, 'events.jsonl')
  await rm(events, { force: true })
  const files = ['--events', events, '--out', join(dir, 'proposed.patch')]
  const args = ['run', '.', '--agents', agents, '--limit', String(limit), '--workers', '1', '--json', ...files]
  const env = { REMORA_MODEL_URLS: url, REMORA_WORKER_SLOTS: String(slots) }
  const { code } = await runRemora(args, { cwd: source, env, limitMs, signal })
  const lines = (await readFile(events, 'utf8')).split('\n').filter((line) => line !== '')
  return figuresOf(
    code,
    lines.map((line) => RunEvent.parse(JSON.parse(line))),
  )
}

function figuresOf(exitCode: number | null, events: readonly RunEvent[]): RunFigures {
  const named = (name: string) => events.filter(({ event }) => event === name)
  const replies = named('model.responded').filter(({ status }) => status === 'ok')
  const ended = named('operation.ended')
  const endings: Record<string, number> = {}
  for (const { data, error_code: code } of ended) {
    const ending = [data['status'], code].filter((part) => typeof part === 'string').join(' ')
    endings[ending] = (endings[ending] ?? 0) + 1
  }
  const returned = named('tool.returned')
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
    submissions: submissions.length,
    validSubmissions: submissions.filter(({ status }) => status === 'ok').length,
    completionTokens,
    tokensPerSecondOfReply: waitedMs === 0 ? 0 : (completionTokens * 1000) / waitedMs,
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
