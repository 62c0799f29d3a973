import { resolve } from 'node:path'
import { rehearsalLabel } from '#domain/rehearsal-label.ts'
import type { ApiClient } from '../api-client.ts'
import type { RunView } from '../api-views.ts'
import type { CliContext } from '../cli-context.ts'
import { silentServers } from '../model-server.ts'
import { openPaint } from '../progress/paint.ts'
import { renderReport, type PatchResult } from '../progress/result-report.ts'
import { applyHint, applyPatch, requireFolder } from './apply-patch.ts'
import { exitCodeOf } from './exit-code.ts'
import { firstConflicts } from './first-conflicts.ts'
import { followRun } from './follow-run.ts'
import { requireKnown } from './known-agents.ts'
import { openLineFile, requireWritable, writeWhole } from './output-file.ts'
import { reachRuns, reachService, type Service } from './reach-service.ts'
import { resultView } from './result-view.ts'
import { shownPath } from './shown-path.ts'
import { showProgress, type ShownProgress } from './show-progress.ts'
import { packSource, submitSource, type Submission } from './submit-source.ts'
import { goingOnWith, unfinishedRuns, whatBecameOf } from './unfinished-runs.ts'

/** What is followed: a folder's new run, a run that is there, or one that tries another again. */
export type RunSource =
  | { kind: 'folder'; submission: Submission }
  | { kind: 'resume'; runId: string }
  | { kind: 'retry'; runId: string; operations: readonly string[] }

export type RunOrder = {
  source: RunSource
  /** What is worked on, and where the patch is applied. */
  path: string
  /** Undefined: `remora-<run id>.patch` in the current folder. */
  out?: string
  apply: boolean
  events?: string
  workers: number
  model?: string | undefined
  json: boolean
  /** Agents of this installation; a running service may have others. */
  known: readonly string[]
}

/**
 * The whole way from a folder, or a run there is, to a patch: checks that can fail cheaply, service, submission,
 * progress, patch, report.
 * Stops what it started, also when it throws.
 */
export async function runOnce(order: RunOrder, context: CliContext): Promise<void> {
  const start = await checkFirst(order, context)
  const events = order.events === undefined ? undefined : await openLineFile(resolve(context.cwd, order.events))
  try {
    const choice = { workers: order.workers, model: order.model }
    const isNew = order.source.kind === 'folder'
    const service = isNew ? await reachService(choice, context) : await reachRuns(context, choice)
    try {
      await runOn(service, order, { context, start, onLine: events?.add })
    } finally {
      await service.close()
    }
  } finally {
    await events?.close()
  }
}

/** Everything that can be wrong with the call is said before anything is started or made. */
async function checkFirst(order: RunOrder, context: CliContext): Promise<StartRun> {
  const { config, cwd } = context
  const { source } = order
  if (source.kind === 'folder' && config.apiUrl === undefined) requireKnown(source.submission.agents, order.known)
  if (order.apply) await requireFolder(resolve(cwd, order.path))
  await requireWritable(resolve(cwd, order.out ?? 'remora.patch'))
  if (source.kind !== 'folder') return (client) => startAgain(client, source)
  const packed = await packSource(order.path, context)
  return (client) => submitSource(client, source.submission, packed)
}

/** Answers the id of the run to follow. */
type StartRun = (client: ApiClient) => Promise<string>

async function startAgain(client: ApiClient, source: Exclude<RunSource, { kind: 'folder' }>): Promise<string> {
  if (source.kind === 'resume') return (await client.getRun(source.runId)).run_id
  return (await client.retry(source.runId, source.operations)).run_id
}

type Running = { context: CliContext; start: StartRun; onLine: ((line: string) => void) | undefined }

async function runOn({ client, stack, signal: ended }: Service, order: RunOrder, running: Running): Promise<void> {
  const { context, start, onLine } = running
  const { io, config } = context
  if (stack !== undefined) io.err(await modelLine(order.model ?? config.modelUrls ?? 'rehearsal', ended))
  const unfinished = stack === undefined ? [] : await unfinishedRuns(client)
  const earlier = unfinished.filter((id) => order.source.kind !== 'resume' || id !== order.source.runId)
  io.err(goingOnWith(earlier))
  const runId = await start(client)
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
