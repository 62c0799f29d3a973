import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import { bubblewrap, redisServer, ruff } from '#platform/known-programs.ts'
import { obtainProgram, withProgram } from '#platform/obtain-program.ts'
import { bubblewrapDir, programCache } from '#platform/program-cache.ts'
import { openApiClient, type ApiClient } from '../api-client.ts'
import { ApiProblem } from '../api-connection.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../terminal-text.ts'
import { findRunningStack } from '../stack/running-stack.ts'
import type { IdleStores } from '../stack/idle-stack.ts'
import type { Stack } from '../stack/start-stack.ts'
import { unservedSettings } from '../cli-config.ts'
import type { PageAccess } from '../show-page.ts'
import { shownPath } from '../wording.ts'

export type Service = {
  client: ApiClient
  signal: AbortSignal
  /** The embedded stack that this command started; undefined when it uses a running service, or only the stores. */
  stack: Stack | undefined
  /** No run in it moves on: the API was opened only for this command, or the stack has no workers. */
  isIdle: boolean
  /** Says what its agents talk to, where that is known. */
  modelKind: ModelKind | undefined
  /** Names its page, and the token for it; undefined where it has no port. */
  page: PageAccess | undefined
  close(): Promise<void>
}

export type StackChoice = {
  /** Worker processes; 0 is enough to end a run. */
  workers: number
  /** There is little to do, and no number of workers was asked for. */
  isSmall?: boolean
  /** Nothing will be worked on, and no number of workers was asked for. */
  isDry?: boolean
  agents?: readonly string[] | undefined
  verifies?: boolean
  /** Allows the setups that requests name, also where the settings do not: the command has named one, or its run may have one. */
  setsUp?: 'named' | 'stored' | undefined
  /** The value of `--model`: a URL, `rehearsal`, or undefined for that of the environment. */
  model?: string | undefined
}

/** Starts an embedded stack over the data folder, which `close` stops. */
async function startOwn(choice: StackChoice, context: CliContext): Promise<Service> {
  const { signal } = context
  const stack = await startEmbedded(choice, context)
  const ended = AbortSignal.any([signal, stack.failed])
  const client = openApiClient({ url: stack.url, token: stack.token, signal: ended })
  return {
    client,
    signal: ended,
    stack,
    isIdle: choice.workers === 0,
    modelKind: stack.modelKind,
    page: stack,
    close: stack.stop,
  }
}

/** Calls `use` with the service that `reachRuns` finds, and closes it afterwards. */
export async function withRuns<T>(
  context: CliContext,
  use: (service: Service) => Promise<T>,
  choice?: StackChoice,
): Promise<T> {
  const service = await reachRuns(context, choice)
  try {
    return await use(service)
  } finally {
    await service.close()
  }
}

/** Is `withRuns` for what may have to be composed first: then `use`, which has done nothing yet, is called again where there is a worker. */
export async function withComposedRuns<T>(context: CliContext, use: (service: Service) => Promise<T>): Promise<T> {
  let lacksWorker = false
  try {
    return await withRuns(context, async (service) => {
      return use(service).catch((error: unknown) => {
        lacksWorker = service.isIdle && error instanceof ApiProblem && error.retryAfterMs !== undefined
        throw error
      })
    })
  } catch (error) {
    if (!lacksWorker) throw error
    return withRuns(context, use, { workers: 1 })
  }
}

/** Returns a running service (see `findService`), else a stack over the runs in the data folder: an idle one without a `choice`. */
export async function reachRuns(context: CliContext, choice?: StackChoice): Promise<Service> {
  const running = await findService(context)
  if (running === undefined) return choice === undefined ? openIdle(context) : startOwn(choice, context)
  return { ...running, signal: context.signal, stack: undefined, isIdle: false, close: async () => {} }
}

async function openIdle(context: CliContext): Promise<Service> {
  const { token } = context.config
  const { openIdleStack } = await import('../stack/idle-stack.ts')
  const stack = await openIdleStack({ ...idleStores(context), token, ...logOptions(context) })
  const signal = AbortSignal.any([context.signal, stack.failed])
  const { token: ofStack, answer } = stack
  const client = openApiClient({ url: 'http://in.this.process', token: ofStack, signal, answer, isIdle: true })
  return { client, signal, stack: undefined, isIdle: true, modelKind: undefined, page: undefined, close: stack.close }
}

/** Opens only the stores of the runs in the data folder. */
export async function openStores(context: CliContext): Promise<IdleStores> {
  const { openIdleStores } = await import('../stack/idle-stack.ts')
  return openIdleStores(idleStores(context))
}

function idleStores(context: CliContext) {
  const { dataDir, environment } = context.config
  sayWhichSettings(context)
  return { dataDir, environment, redisProgram: () => redisProgram({ workers: 0 }, context), signal: context.signal }
}

function logOptions({ config: { dataDir, logging }, verbose }: CliContext) {
  return {
    logging: verbose() ? { ...logging, level: 'debug' as const } : logging,
    logPath: verbose() ? undefined : join(dataDir, 'stack.log'),
  }
}

function sayWhichSettings({ config, io, cwd }: CliContext): void {
  const { path } = config.settings
  if (path !== undefined) io.err(visible(`settings: ${shownPath(path, cwd)}\n`))
  for (const line of unservedSettings(config.settings, cwd)) io.err(visible(`${line}\n`))
}

/** Returns a client of a running service (see `findService`), and what its page needs; CONFIG_001 when there is none. */
export async function runningService(context: CliContext): Promise<Found> {
  const running = await findService(context)
  if (running !== undefined) return running
  const folder = shownPath(context.config.dataDir, context.cwd)
  throw new AppError(
    'CONFIG_001',
    `no services run in ${folder}: start them with "remora up", name a running service in REMORA_API_URL, or use "remora run"`,
  )
}

type Found = Pick<Service, 'client' | 'modelKind'> & { page: PageAccess }

/** Returns the service that REMORA_API_URL names, else the stack that another command runs in the data folder. */
async function findService({ config, signal }: CliContext): Promise<Found | undefined> {
  const { apiUrl: url, token, dataDir } = config
  if (url !== undefined)
    return { client: openApiClient({ url, token, signal }), modelKind: undefined, page: { url, token } }
  const running = await findRunningStack(dataDir)
  if (running === undefined) return undefined
  const { modelKind } = running
  return { client: openApiClient({ url: running.url, token: running.token, signal }), modelKind, page: running }
}

/** The services are loaded only here, because they take most of the time to load. */
export async function startEmbedded(choice: StackChoice & { port?: number }, context: CliContext): Promise<Stack> {
  const { config, signal, io } = context
  const { keyFault, pathsFault } = config.settings
  if (keyFault !== undefined && choice.workers > 0 && choice.model === undefined) throw keyFault
  const setsUp = choice.setsUp === 'named' || config.allowsSetups
  if (pathsFault !== undefined && choice.workers > 0 && setsUp) throw pathsFault
  const { requireBundleChoices } = await import('./known-agents.ts')
  await requireBundleChoices(config)
  sayWhichSettings(context)
  const model = choice.model ?? config.modelUrls
  const ownRuff = choice.workers > 0 ? await ruffProgram(context) : undefined
  const environment = choice.setsUp !== undefined && !config.allowsSetups ? askedSetups(config) : config.environment
  const { startStack } = await import('../stack/start-stack.ts')
  const sharesProcess = config.github.appId === undefined
  return startStack({
    dataDir: config.dataDir,
    redisProgram: () => redisProgram(choice, context),
    bubblewrap: () => bubblewrapProgram(choice, context),
    workers: choice.workers,
    isSmall: choice.isSmall === true && sharesProcess,
    isDry: choice.isDry === true && sharesProcess,
    port: choice.port ?? 0,
    model: { urls: model === 'rehearsal' ? undefined : model, name: config.modelName, apiKey: config.modelApiKey },
    environment:
      ownRuff === undefined ? environment : { ...environment, PATH: withProgram(config.searchPath, ownRuff) },
    // A setup that an earlier command has left may still be waiting.
    setupPaths: pathsFault === undefined ? undefined : '',
    token: config.token,
    ...logOptions(context),
    say: (line) => io.err(visible(`${line}\n`)),
    signal,
  })
}

/** Bundles may come with the sources: only the setup that a person has named counts. */
function askedSetups({ environment }: CliContext['config']) {
  return { ...environment, REMORA_SETUP: 'asked' }
}

/** A command that only reads former runs installs nothing: where there are runs, there was a Redis. Throws CONFIG_006 without one. */
async function redisProgram({ workers }: Pick<StackChoice, 'workers'>, context: CliContext): Promise<string> {
  const options = obtaining(context)
  const mayInstall = options.mayInstall && workers > 0
  const { path, lack } = await obtainProgram(redisServer, { ...options, mayInstall })
  if (path === undefined) throw new AppError('CONFIG_006', lack)
  return path
}

/** Returns the Ruff that Python is linted with; without one, agents that lint it are blocked. */
async function ruffProgram(context: CliContext): Promise<string | undefined> {
  const options = obtaining(context)
  const { path, lack } = await obtainProgram(ruff, options)
  if (path === undefined) options.say(`Python cannot be linted (TOOL_005): ${lack}`)
  return path
}

/** Is got only for a run that has a gate or a setup, or agents that run programs. Without it that run is not proved, and these are blocked. */
async function bubblewrapProgram(choice: StackChoice, context: CliContext): Promise<string | undefined> {
  const { sandbox, agentsDir } = context.config
  const { runtime, image } = sandbox
  if (runtime === 'none' || runtime === 'container' || sandbox.bubblewrap !== undefined) return sandbox.bubblewrap
  const { runsPrograms } = await import('./known-agents.ts')
  const isNeeded =
    choice.verifies === true || choice.setsUp !== undefined || (await runsPrograms(agentsDir, choice.agents))
  const options = obtaining(context)
  const programDir = bubblewrapDir(options.env, options.isRoot)
  const mayInstall = options.mayInstall && isNeeded
  const { path, lack } = await obtainProgram(bubblewrap, { ...options, programDir, mayInstall })
  if (path === undefined && isNeeded && (runtime === 'bubblewrap' || image === undefined))
    options.say(`programs of the repository cannot be run: ${lack}`)
  return path
}

function obtaining({ config, signal, io }: CliContext) {
  const { searchPath, settings, mayInstallRedis: mayInstall } = config
  const programDir = programCache(settings.own)
  const say = (line: string) => io.err(visible(`${line}\n`))
  return { searchPath, programDir, mayInstall, isRoot: process.getuid?.() === 0, env: settings.own, say, signal }
}
