import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { runCommand } from './run-command.ts'

const Asked = z.object({ succeeded: z.number(), requests: z.number(), tokens: z.number() })

/** What the result line and the events of a run say. */
export const RunFigures = z.strictObject({
  exitCode: z.number().nullable(),
  wallMs: z.number(),
  /** The time of the same run with a model that takes `replyMs` for each reply. */
  slowMs: z.number(),
  status: z.string(),
  nodes: z.number(),
  planned: z.number(),
  turns: z.number(),
  tokens: z.number(),
  /** Counts what each agent asked the model, and the changes it proposed, also those without a model. */
  asked: z.record(z.string(), Asked),
  /** Operations by how they ended. */
  endings: z.record(z.string(), z.number()),
  failures: z.array(z.string()),
  /** Change sets that the composition left out. */
  leftOut: z.number(),
  skippedFiles: z.number(),
  /** The product's own report of what it did not do, unparsed. */
  result: z.unknown(),
  patchApplies: z.boolean(),
})
export type RunFigures = z.infer<typeof RunFigures>

const Event = z.object({ event: z.string(), data: z.record(z.string(), z.unknown()).default({}) })
const Result = z.object({
  result: z.looseObject({
    status: z.string(),
    failures: z.array(z.unknown()).default([]),
    conflict_count: z.number().default(0),
    skipped_files: z.array(z.unknown()).default([]),
    patch: z.object({ path: z.string() }).nullish(),
    agents: z.record(z.string(), Asked).default({}),
  }),
})

/** What a small model needs for a reply of a tool call; larger ones take longer. */
export const replyMs = 1_000

const program = fileURLToPath(new URL('../../cli/remora.mjs', import.meta.url))
const runLimitMs = 60 * 60_000

/**
 * `remora run` with the rehearsal model over a fresh copy of `tree`, as a user would start it in a folder, and its
 * patch applied to `after`, a second copy; then once more with slow replies.
 */
export async function runRemora(tree: string, after: string, work: string): Promise<RunFigures> {
  await rm(after, { recursive: true, force: true })
  await cp(tree, after, { recursive: true, verbatimSymlinks: true })
  const slow = await startRun(tree, { folder: join(work, 'remora-slow'), work, latencyMs: replyMs })
  const folder = join(work, 'remora')
  const end = await startRun(tree, { folder, work, latencyMs: 0 })
  const patchApplies = await applyPatch(end.patch, after, work)
  const figures = await figuresOf(end.result, join(folder, 'events.jsonl'))
  return { exitCode: end.code, wallMs: end.ms, slowMs: slow.ms, patchApplies, ...figures }
}

type RunPlace = { folder: string; work: string; latencyMs: number }

function startRun(tree: string, { latencyMs, ...place }: RunPlace) {
  const env = { REMORA_REHEARSAL_LATENCY_MS: String(latencyMs) }
  return startRemora(tree, { ...place, options: ['--agents', 'lint,docstring'], env })
}

type RemoraRun = Omit<RunPlace, 'latencyMs'> & {
  options: readonly string[]
  env: Readonly<Record<string, string>>
}

/** Runs `remora run` with the rehearsal model over a copy of `tree` in `folder`, where its patch and its events go, too. */
export async function startRemora(tree: string, { folder, work, options, env }: RemoraRun) {
  const source = join(folder, 'source')
  await rm(folder, { recursive: true, force: true })
  await cp(tree, source, { recursive: true, verbatimSymlinks: true })
  const [patch, events] = [join(folder, 'proposed.patch'), join(folder, 'events.jsonl')]
  const { PATH = '', HOME = '' } = process.env
  const outputs = ['--model', 'rehearsal', '--json', '--events-to', events, '--out', patch]
  const end = await runCommand({
    argv: [process.execPath, program, 'run', source, ...options, ...outputs],
    cwd: folder,
    env: { PATH, HOME, GIT_CEILING_DIRECTORIES: folder, ...env },
    limitMs: runLimitMs,
    logFile: join(work, 'remora-run'),
  })
  const result = end.out.trimEnd().split('\n').at(-1) ?? ''
  if (!result.startsWith('{"result"')) throw new Error(`remora run ended with ${end.code}: ${end.err.slice(-1_000)}`)
  return { code: end.code, ms: end.ms, result, patch }
}

async function figuresOf(line: string, eventsFile: string) {
  const { result } = Result.parse(JSON.parse(line))
  const data: Record<string, Record<string, unknown>> = {}
  const lines = (await readFile(eventsFile, 'utf8').catch(() => '')).split('\n')
  for (const text of lines.filter((one) => one !== '')) {
    const event = Event.parse(JSON.parse(text))
    if (event.event.startsWith('run.') || event.event === 'nodes.discovered') data[event.event] = event.data
  }
  const ended = data['run.completed'] ?? data['run.failed'] ?? {}
  return {
    status: result.status,
    nodes: Number(data['nodes.discovered']?.['nodes'] ?? 0),
    planned: Number(data['run.planned']?.['operations'] ?? 0),
    turns: Number(ended['turns'] ?? 0),
    tokens: Number(ended['prompt_tokens'] ?? 0) + Number(ended['completion_tokens'] ?? 0),
    asked: result.agents,
    endings: z.record(z.string(), z.number()).parse(ended['operations'] ?? {}),
    failures: result.failures.map((failure) => JSON.stringify(failure)),
    leftOut: result.conflict_count,
    skippedFiles: result.skipped_files.length,
    result,
  }
}

/** A run that changes nothing writes no patch, which counts as a patch that applies. */
export async function applyPatch(patch: string, after: string, work: string): Promise<boolean> {
  const text = await readFile(patch, 'utf8').catch(() => '')
  if (text === '') return true
  const { PATH = '', HOME = '' } = process.env
  const end = await runCommand({
    argv: ['git', 'apply', '--whitespace=nowarn', patch],
    cwd: after,
    env: { PATH, HOME, GIT_CEILING_DIRECTORIES: work },
    limitMs: 60_000,
    logFile: join(work, 'git-apply'),
  })
  return end.code === 0
}
