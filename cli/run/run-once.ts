import { resolve } from 'node:path'
import { rehearsalLabel } from '#domain/rehearsal-label.ts'
import type { ApiClient } from '../api-client.ts'
import type { RunView } from '../api-views.ts'
import type { CliContext } from '../cli-context.ts'
import { silentServers } from '../model-server.ts'
import type { Packed } from '../pack-folder.ts'
import { openPaint } from '../progress/paint.ts'
import { renderReport, type ConflictLine, type PatchResult } from '../progress/result-report.ts'
import { applyHint, applyPatch, requireFolder } from './apply-patch.ts'
import { exitCodeOf } from './exit-code.ts'
import { followRun } from './follow-run.ts'
import { requireKnown } from './known-agents.ts'
import { openLineFile, requireWritable, writeWhole } from './output-file.ts'
import { reachService, type Service } from './reach-service.ts'
import { resultView } from './result-view.ts'
import { shownPath } from './shown-path.ts'
import { showProgress, type ShownProgress } from './show-progress.ts'
import { packSource, submitSource, type Submission } from './submit-source.ts'
import { goingOnWith, unfinishedRuns, whatBecameOf } from './unfinished-runs.ts'

export type RunOrder = Submission & {
  path: string
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
  const packed = await checkFirst(order, context)
  const events = order.events === undefined ? undefined : await openLineFile(resolve(context.cwd, order.events))
  try {
    const service = await reachService({ workers: order.workers, model: order.model }, context)
    try {
      await runOn(service, order, { context, packed, onLine: events?.add })
    } finally {
      await service.close()
    }
  } finally {
    await events?.close()
  }
}

/** Everything that can be wrong with the call is said before anything is started or made. */
async function checkFirst(order: RunOrder, context: CliContext): Promise<Packed> {
  const { config, cwd } = context
  if (config.apiUrl === undefined) requireKnown(order.agents, order.known)
  if (order.apply) await requireFolder(resolve(cwd, order.path))
  await requireWritable(resolve(cwd, order.out ?? 'remora.patch'))
  return packSource(order.path, context)
}

type Running = { context: CliContext; packed: Packed; onLine: ((line: string) => void) | undefined }

async function runOn({ client, stack, signal: ended }: Service, order: RunOrder, running: Running): Promise<void> {
  const { context, packed, onLine } = running
  const { io, config } = context
  if (stack !== undefined) io.err(await modelLine(order.model ?? config.modelUrls ?? 'rehearsal', ended))
  const earlier = stack === undefined ? [] : await unfinishedRuns(client)
  io.err(goingOnWith(earlier))
  const runId = await submitSource(client, order, packed)
  const progress = showProgress(runId, { json: order.json, onLine }, context)
  try {
    await followRun(runId, progress, { client, signal: ended })
  } catch (error) {
    progress.close()
    if (ended.aborted) io.err(`\n${whatStays(runId, stack !== undefined, context)}\n`)
    throw error
  }
  progress.close()
  const run = await client.getRun(runId)
  const patch = run.status === 'completed' ? await takePatch(client, run, order, context) : undefined
  await report({ client, order, context }, { progress, run, patch, earlier })
}

/** Said at the start, since each operation tries for its whole retry budget before it says the same. */
async function modelLine(model: string, signal: AbortSignal): Promise<string> {
  if (model === 'rehearsal') return `model: ${rehearsalLabel}\n`
  const silent = await silentServers(model, signal)
  return silent
    .map((server) => `CONFIG_005 no model server answers at ${server}: operations wait for it, then fail\n`)
    .join('')
}

/** What becomes of a run nobody waits for any more. */
function whatStays(runId: string, isOurs: boolean, { cwd, config, signal }: CliContext): string {
  if (!isOurs) return `Run ${runId} goes on in the service at ${config.apiUrl}.`
  const folder = shownPath(config.dataDir, cwd)
  const forget = `remove ${folder} to forget it`
  const kept = `Run ${runId} is kept in ${folder} and goes on when a stack is started here again; ${forget}.`
  return signal.aborted ? kept : `${kept} What the services did last is in ${folder}/stack.log.`
}

async function takePatch(client: ApiClient, run: RunView, order: RunOrder, { cwd }: CliContext): Promise<PatchResult> {
  const content = await client.readPatch(run.run_id)
  if (content === undefined) return undefined
  const target = resolve(cwd, order.out ?? `remora-${run.run_id}.patch`)
  await writeWhole(target, content)
  const folder = resolve(cwd, order.path)
  if (order.apply) await applyPatch(folder, target)
  return {
    path: shownPath(target, cwd),
    applied: order.apply,
    hint: await applyHint(folder, target, cwd),
  }
}

type Ended = { progress: ShownProgress; run: RunView; patch: PatchResult; earlier: readonly string[] }

async function report(
  { client, order, context }: { client: ApiClient; order: RunOrder; context: CliContext },
  { progress, run, patch, earlier }: Ended,
): Promise<void> {
  const state = progress.state()
  const conflicts = await firstConflicts(client, run)
  if (order.json) context.io.out(`${JSON.stringify(resultView({ state, run, patch, conflicts }, earlier))}\n`)
  else context.io.out(`\n${renderReport({ state, run, patch, conflicts }, openPaint(context.colored))}`)
  if (!order.json) context.io.out(await whatBecameOf(earlier, client))
  context.io.exit(exitCodeOf(run.status, state))
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
