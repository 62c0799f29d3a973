import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { runRemora } from './run-program.ts'

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

const requestLimitS = 300
/** Enough for every call of the harness; a small model that does not call goes on until it is cut. */
const maxTokens = 128

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
