import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import { bubblewrap, redisServer, ruff } from '#platform/known-programs.ts'
import { obtainProgram, withProgram } from '#platform/obtain-program.ts'
import { bubblewrapDir, programCache } from '#platform/program-cache.ts'
import { openApiClient, type ApiClient } from '../api-client.ts'
import { requireBundleChoices, runsPrograms } from './known-agents.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../terminal-text.ts'
import { findRunningStack } from '../stack/running-stack.ts'
import type { Stack } from '../stack/start-stack.ts'
import { unservedSettings } from '../cli-config.ts'
import { shownPath } from '../wording.ts'

export type Service = {
  client: ApiClient
  signal: AbortSignal
  /** The embedded stack that this command started; undefined when it uses a running service. */
  stack: Stack | undefined
  /** Says what its agents talk to, where that is known. */
  modelKind: ModelKind | undefined
  close(): Promise<void>
}

export type StackChoice = {
  /** Worker processes; 0 is enough to read former runs. */
  workers: number
  /** Starts discovery even without workers, which is enough to end a run. */
  discovery?: boolean
  agents?: readonly string[] | undefined
  verifies?: boolean
  /** Allows the setups that requests name, also where the settings do not: the command has named one, or its run may have one. */
  setsUp?: 'named' | 'stored' | undefined
  /** The value of `--model`: a URL, `rehearsal`, or undefined for that of the environment. */
  model?: string | undefined
}

/** Returns the service that REMORA_API_URL names, else an embedded stack over the data folder, which `close` stops. */
export async function reachService(choice: StackChoice, context: CliContext): Promise<Service> {
  const { config, signal } = context
  if (config.apiUrl !== undefined) {
    const client = openApiClient({ url: config.apiUrl, token: config.token, signal })
    return { client, signal, stack: undefined, modelKind: undefined, close: client.close }
  }
  const stack = await startEmbedded(choice, context)
  const ended = AbortSignal.any([signal, stack.failed])
  const client = openApiClient({ url: stack.url, token: stack.token, signal: ended })
  return {
    client,
    signal: ended,
    stack,
    modelKind: stack.modelKind,
    async close() {
      await client.close()
      await stack.stop()
    },
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

/** Returns a running service (see `findService`), else an embedded stack over the runs in the data folder. */
export async function reachRuns(context: CliContext, choice: StackChoice = { workers: 0 }): Promise<Service> {
  const running = await findService(context)
  if (running === undefined) return reachService(choice, context)
  const { client, modelKind } = running
  return { client, signal: context.signal, stack: undefined, modelKind, close: client.close }
}

/** Is true when `service` has no workers, so that no run in it moves on: an embedded stack that was started only to read runs. */
export function isIdle({ stack }: Pick<Service, 'stack'>): boolean {
  return stack !== undefined && !stack.processes().some(({ service }) => service === 'worker')
}

/** Returns a client of a running service (see `findService`); CONFIG_001 when there is none. */
export async function runningService(context: CliContext): Promise<ApiClient> {
  const running = await findService(context)
  if (running !== undefined) return running.client
  const folder = shownPath(context.config.dataDir, context.cwd)
  throw new AppError(
    'CONFIG_001',
    `no services run in ${folder}: start them with "remora up", name a running service in REMORA_API_URL, or use "remora run"`,
  )
}

/** Returns the service that REMORA_API_URL names, else the stack that another command runs in the data folder. */
async function findService({ config, signal }: CliContext): Promise<Pick<Service, 'client' | 'modelKind'> | undefined> {
  const { apiUrl: url, token, dataDir } = config
  if (url !== undefined) return { client: openApiClient({ url, token, signal }), modelKind: undefined }
  const running = await findRunningStack(dataDir)
  if (running === undefined) return undefined
  return { client: openApiClient({ url: running.url, token: running.token, signal }), modelKind: running.modelKind }
}

/** The services are loaded only here, because they take most of the time to load. */
export async function startEmbedded(choice: StackChoice & { port?: number }, context: CliContext): Promise<Stack> {
  const { config, signal, verbose, io, cwd } = context
  const { keyFault, pathsFault, path } = config.settings
  if (keyFault !== undefined && choice.workers > 0 && choice.model === undefined) throw keyFault
  const setsUp = choice.setsUp === 'named' || config.allowsSetups
  if (pathsFault !== undefined && choice.workers > 0 && setsUp) throw pathsFault
  if (choice.workers > 0 || choice.discovery === true) await requireBundleChoices(config)
  if (path !== undefined) io.err(visible(`settings: ${shownPath(path, cwd)}\n`))
  for (const line of unservedSettings(config.settings, cwd)) io.err(visible(`${line}\n`))
  const model = choice.model ?? config.modelUrls
  const ownRuff = choice.workers > 0 || choice.discovery === true ? await ruffProgram(context) : undefined
  const environment = choice.setsUp !== undefined && !config.allowsSetups ? askedSetups(config) : config.environment
  const { startStack } = await import('../stack/start-stack.ts')
  return startStack({
    dataDir: config.dataDir,
    redisProgram: () => redisProgram(choice, context),
    bubblewrap: () => bubblewrapProgram(choice, context),
    workers: choice.workers,
    discovery: choice.discovery,
    port: choice.port ?? 0,
    model: { urls: model === 'rehearsal' ? undefined : model, name: config.modelName, apiKey: config.modelApiKey },
    environment:
      ownRuff === undefined ? environment : { ...environment, PATH: withProgram(config.searchPath, ownRuff) },
    // A setup that an earlier command has left may still be waiting.
    setupPaths: pathsFault === undefined ? undefined : '',
    token: config.token,
    logging: verbose() ? { ...config.logging, level: 'debug' } : config.logging,
    logPath: verbose() ? undefined : join(config.dataDir, 'stack.log'),
    say: (line) => io.err(visible(`${line}\n`)),
    signal,
  })
}

/** Bundles may come with the sources: only the setup that a person has named counts. */
function askedSetups({ environment }: CliContext['config']) {
  return { ...environment, REMORA_SETUP: 'asked' }
}

/** A command that only reads former runs installs nothing: where there are runs, there was a Redis. Throws CONFIG_006 without one. */
async function redisProgram({ workers }: StackChoice, context: CliContext): Promise<string> {
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
