import { resolve } from 'node:path'
import { hasCode } from '#domain/error.ts'
import { rehearsalLabel } from '#domain/model-kind.ts'
import { withoutLogin } from '#platform/hide-secrets.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { CliContext } from '../cli-context.ts'
import { describeSilent } from '../model-server.ts'
import type { ApiClient } from '../api-client.ts'
import { describeAgenda } from './describe-agenda.ts'
import { describePlan } from './describe-plan.ts'
import { type Follower, followRun } from './follow-run.ts'
import { openLineFile } from './output-file.ts'
import { type PreparedRun, prepareStart, type RunOrder } from './prepare-start.ts'
import { reachRuns, type Service } from './reach-service.ts'
import { defaultWorkers } from '../stack/worker-pool.ts'
import { withRepository } from '../discover/repository-around.ts'
import { lacksItems, reportRun, reportView } from './report-run.ts'
import { showPage } from '../show-page.ts'
import { shownPath } from '../wording.ts'
import { isComposed } from '../progress/progress-state.ts'
import { judgeServers, type ServersJudge } from './judge-servers.ts'
import { showProgress, type ShownProgress } from './show-progress.ts'
import { takePatch } from './take-patch.ts'
import { describeUnfinished, sameModelFlag, unfinishedRuns, whatBecameOf } from './unfinished-runs.ts'

/** Takes a folder, or an existing run, all the way to a patch. Stops what it started, also when it throws. */
export async function runOnce(ordered: RunOrder, context: CliContext): Promise<void> {
  const order = await inRepository(ordered, context)
  const { start, isSmall } = await prepareStart(order, context)
  const events = order.eventsTo === undefined ? undefined : await openLineFile(resolve(context.cwd, order.eventsTo))
  try {
    const { source } = order
    const isNew = source.kind === 'folder'
    const agents = isNew ? source.submission.agents : undefined
    const verifies = isNew && source.submission.verify !== undefined
    // --setup allows the run its setup. A run that is resumed has the setup that its own request named, and no other.
    const ofNew = order.setsUp === true ? ('named' as const) : undefined
    const setsUp = isNew ? ofNew : ('stored' as const)
    const { model, workers = defaultWorkers() } = order
    const isOurChoice = order.workers === undefined
    const sizes = { isSmall: isSmall && isOurChoice, isDry: isDryRun(order) && isOurChoice }
    const choice = { workers, ...sizes, model, agents, verifies, setsUp }
    const service = await reachRuns(context, choice)
    try {
      await runOn(service, order, { context, start, onLine: events?.add })
    } finally {
      await service.close()
    }
  } finally {
    await events?.close()
  }
}

async function inRepository(order: RunOrder, context: CliContext): Promise<RunOrder> {
  const { source } = order
  if (source.kind !== 'folder') return order
  const { path, submission } = await withRepository({ path: order.path, submission: source.submission }, context)
  return { ...order, path, source: { ...source, submission } }
}

type Running = { context: CliContext; start: PreparedRun['start']; onLine: ((line: string) => void) | undefined }

async function runOn(service: Service, order: RunOrder, running: Running): Promise<void> {
  const { client, stack, signal: ended, modelKind } = service
  const { context, start, onLine } = running
  const { io, config } = context
  if (stack === undefined && config.apiUrl === undefined && order.model !== undefined) {
    io.err('--model has no effect: the services that already run here have their own models\n')
  }
  if (stack !== undefined) io.err(await modelLine(order.model ?? config.modelUrls ?? 'rehearsal', ended))
  const except = order.source.kind === 'resume' ? order.source.runId : undefined
  const none = { goingOn: [], waiting: [] }
  const unfinished = stack === undefined ? none : await unfinishedRuns(client, { modelKind, except })
  io.err(describeUnfinished(unfinished, order.model ?? config.modelUrls))
  const { runId, after } = await start(service)
  if (order.opens === true) await showPage(service.page, runId, context)
  const servers = stack === undefined ? undefined : judgeOwnServers(order, service, context)
  const choice = { json: order.json, onLine, checksServers: servers?.isJudging }
  const progress = showProgress(runId, choice, context)
  try {
    await followRun(runId, servers === undefined ? progress : judged(progress, servers), {
      client,
      signal: ended,
      after,
    })
  } catch (error) {
    progress.close()
    const model = hasCode(error, 'CONFIG_005') ? 'URL' : order.model
    if (ended.aborted || hasCode(error, 'STORE_001', 'CONFIG_005'))
      io.err(`\n${describeLeftRun(runId, { isOurs: stack !== undefined, model }, context)}\n`)
    throw error
  }
  progress.close()
  const fault = servers?.fault()
  if (fault !== undefined) {
    io.err(`\nRun ${runId} is cancelled: nothing of it was done.\n`)
    throw fault
  }
  const run = await client.getRun(runId)
  if (isDryRun(order) && run.status === 'completed') return reportPlan(run, order, { client, context })
  const isNew = order.source.kind === 'folder'
  const state = progress.state()
  const patch = isComposed(run.status, state) ? await takePatch(client, run, { ...order, isNew }, context) : undefined
  const earlierRuns = unfinished.goingOn
  await reportRun(
    { state, run, patch, model: stack && order.model, earlierRuns },
    { json: order.json, client, context },
  )
  if (!order.json) io.out(await whatBecameOf(earlierRuns, client))
}

function judgeOwnServers(
  { model, source }: RunOrder,
  { client, signal }: Service,
  { config }: CliContext,
): ServersJudge {
  const namedIn = model === undefined ? 'REMORA_MODEL_URLS or model.pool' : '--model'
  return judgeServers({ client, signal, namedIn, apiKey: config.modelApiKey, isResumed: source.kind === 'resume' })
}

function judged(progress: ShownProgress, servers: ServersJudge): Follower {
  return {
    ...progress,
    onEvent(event) {
      progress.onEvent(event)
      servers.onEvent(event)
    },
    async onRun(run) {
      await progress.onRun?.(run)
      await servers.onRun(run)
      if (servers.fault() !== undefined) progress.close() // what follows is how the run is put away
    },
  }
}

function isDryRun({ source }: RunOrder): boolean {
  return source.kind === 'folder' && source.submission.dryRun === true
}

async function reportPlan(
  { run_id: runId, request }: RunView,
  { json }: RunOrder,
  { client, context }: { client: ApiClient; context: CliContext },
): Promise<void> {
  if (request.objective !== undefined) {
    const agenda = await client.readAgenda(runId)
    const shown = () => `\n${describeAgenda(agenda, reportView(context))}\nNothing of it was done.\n`
    context.io.out(json ? `${JSON.stringify({ agenda })}\n` : shown())
    return context.io.exit(lacksItems(agenda) ? 3 : 0)
  }
  const plan = await client.readPlan(runId)
  context.io.out(json ? `${JSON.stringify({ plan })}\n` : `\n${describePlan(plan, reportView(context))}`)
}

/** Printed at the start: a run asks for servers only once it is planned. */
async function modelLine(model: string, signal: AbortSignal): Promise<string> {
  if (model === 'rehearsal') return `model: ${rehearsalLabel}\n`
  const whenNone = (server: string) => `checks the model server at ${server}: it has not answered yet`
  return describeSilent(model, { whenNone, signal })
}

function describeLeftRun(
  runId: string,
  { isOurs, model }: { isOurs: boolean; model: string | undefined },
  { cwd, config, signal }: CliContext,
): string {
  const stop = `To stop it for good: remora cancel ${runId}`
  if (!isOurs) {
    const where =
      config.apiUrl === undefined ? 'the services that run here' : `the service at ${withoutLogin(config.apiUrl)}`
    return `Run ${runId} continues in ${where}. ${stop}`
  }
  const folder = shownPath(config.dataDir, cwd)
  const stored = `Run ${runId} is kept in ${folder}. To continue it: remora run --resume ${runId}${sameModelFlag(model)}   ${stop}`
  return signal.aborted ? stored : `${stored}\nThe log of the services is in ${folder}/stack.log.`
}
