import { relative, resolve } from 'node:path'
import type { ApiClient } from '../api-client.ts'
import type { RunView } from '../api-views.ts'
import type { CliContext } from '../cli-context.ts'
import { packPath } from '../pack-folder.ts'
import { openPaint } from '../progress/paint.ts'
import { failedOperations } from '../progress/progress-state.ts'
import { rehearsalLabel, renderReport, type ConflictLine, type PatchResult } from '../progress/result-report.ts'
import { applyHint, applyPatch, requireFolder } from './apply-patch.ts'
import { followRun } from './follow-run.ts'
import { requireKnown } from './known-agents.ts'
import { openLineFile, requireWritable, writeWhole } from './output-file.ts'
import { reachService, type Service } from './reach-service.ts'
import { resultView } from './result-view.ts'
import { showProgress, type ShownProgress } from './show-progress.ts'

export type RunOrder = {
  path: string
  agents: readonly string[]
  paths?: readonly string[]
  limit?: number
  accept: 'none'
  /** Undefined: `remora-<run id>.patch` in the current folder. */
  out?: string
  apply: boolean
  events?: string
  workers: number
  model?: string
  json: boolean
  /** Agents of this installation; a running service may have others. */
  known: readonly string[]
}

const conflictsShown = 5
const conflictPages = 20

/**
 * The whole way from a folder to a patch: checks that can fail cheaply, service, submission, progress, patch, report.
 * Stops what it started, also when it throws.
 */
export async function runOnce(order: RunOrder, context: CliContext): Promise<void> {
  await checkFirst(order, context)
  const events = order.events === undefined ? undefined : await openLineFile(resolve(context.cwd, order.events))
  try {
    const service = await reachService({ workers: order.workers, model: order.model }, context)
    try {
      await runOn(service, order, { context, onLine: events?.add })
    } finally {
      await service.close()
    }
  } finally {
    await events?.close()
  }
}

/** Everything that can be wrong with the call is said before anything is started. */
async function checkFirst(order: RunOrder, { config, cwd }: CliContext): Promise<void> {
  if (config.apiUrl === undefined) requireKnown(order.agents, order.known)
  if (order.apply) await requireFolder(resolve(cwd, order.path))
  await requireWritable(resolve(cwd, order.out ?? 'remora.patch'))
}

type Running = { context: CliContext; onLine: ((line: string) => void) | undefined }

async function runOn({ client, stack }: Service, order: RunOrder, { context, onLine }: Running): Promise<void> {
  const { io, signal, config } = context
  const rehearsed = stack !== undefined && (order.model ?? config.modelUrls ?? 'rehearsal') === 'rehearsal'
  if (rehearsed) io.err(`model: ${rehearsalLabel}\n`)
  const runId = await submit(client, order, context)
  const progress = showProgress(runId, { json: order.json, onLine }, context)
  try {
    await followRun(runId, progress, { client, signal })
  } catch (error) {
    progress.close()
    if (signal.aborted)
      io.err(`\nStopped. Run ${runId} stays in ${stack === undefined ? 'the service' : config.dataDir}.\n`)
    throw error
  }
  progress.close()
  const run = await client.getRun(runId)
  const patch = run.status === 'completed' ? await takePatch(client, run, order, context) : undefined
  await report({ client, order, context }, { progress, run, patch })
}

/** Packs the path and sends it; answers the run's id. */
export async function submit(
  client: ApiClient,
  order: Pick<RunOrder, 'path' | 'agents' | 'paths' | 'limit' | 'accept'>,
  { cwd, io, signal }: CliContext,
): Promise<string> {
  const packed = await packPath(resolve(cwd, order.path), { signal })
  if (packed.skipped.length > 0) io.err(`skipped ${packed.skipped.length}: ${listed(packed.skipped)}\n`)
  const request = {
    agents: order.agents,
    accept: order.accept,
    ...(order.paths === undefined ? {} : { paths: order.paths }),
    ...(order.limit === undefined ? {} : { limits: { operations: order.limit } }),
  }
  const accepted = await client.submit({ request, archive: packed.stream })
  return accepted.run_id
}

function listed(skipped: readonly { path: string; reason: string }[]): string {
  const first = skipped.slice(0, 3).map(({ path, reason }) => `${path} (${reason})`)
  return `${first.join(', ')}${skipped.length > 3 ? ' …' : ''}`
}

async function takePatch(client: ApiClient, run: RunView, order: RunOrder, { cwd }: CliContext): Promise<PatchResult> {
  const content = await client.readPatch(run.run_id)
  if (content === undefined) return undefined
  const target = resolve(cwd, order.out ?? `remora-${run.run_id}.patch`)
  await writeWhole(target, content)
  const folder = resolve(cwd, order.path)
  if (order.apply) await applyPatch(folder, target)
  const path = relative(cwd, target)
  return {
    path: path.startsWith('..') ? target : path,
    applied: order.apply,
    hint: await applyHint(folder, target, cwd),
  }
}

type Ended = { progress: ShownProgress; run: RunView; patch: PatchResult }

async function report(
  { client, order, context }: { client: ApiClient; order: RunOrder; context: CliContext },
  { progress, run, patch }: Ended,
): Promise<void> {
  const state = progress.state()
  const conflicts = await firstConflicts(client, run)
  if (order.json) context.io.out(`${JSON.stringify(resultView({ state, run, patch, conflicts }))}\n`)
  else context.io.out(`\n${renderReport({ state, run, patch, conflicts }, openPaint(context.colored))}`)
  if (run.status !== 'completed') context.io.exit(1)
  else if (failedOperations(state) > 0) context.io.exit(3)
}

async function firstConflicts(client: ApiClient, run: RunView): Promise<ConflictLine[]> {
  const found: ConflictLine[] = []
  let cursor: string | undefined
  for (let pages = 0; found.length < Math.min(run.conflicts, conflictsShown) && pages < conflictPages; pages++) {
    const page = await client.listChanges(run.run_id, { ...(cursor === undefined ? {} : { cursor }), limit: 100 })
    for (const { change_set_id: changeSetId, conflict } of page.changes) {
      if (conflict !== undefined) found.push({ changeSetId, code: conflict.error_code, reason: conflict.reason })
    }
    if (page.next === null) break
    cursor = page.next
  }
  return found.slice(0, conflictsShown)
}
