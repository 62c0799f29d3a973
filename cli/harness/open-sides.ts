import { AppError } from '#domain/error.ts'
import { openModelPool, type ModelPool } from '#models/model-pool.ts'
import type { Log } from '#platform/log.ts'
import type { Env, HttpProxy } from '#platform/env.ts'
import { withoutLogins } from '#platform/hide-secrets.ts'
import { askServer, kindOfModel, serversIn } from '../model-server.ts'
import { parseBehaviour } from '../../services/rehearsal/rehearsal-config.ts'
import { startRehearsal } from '../../services/rehearsal/rehearsal-server.ts'
import type { ComparedSide, Side, SideSettings } from './side.ts'

export type SidesOrder = {
  /** Servers separated by commas; `rehearsal` or undefined is the rehearsal model, in this process. */
  model: string | undefined
  modelName: string | undefined
  apiKey: string | undefined
  /** Requests to servers go through it; the rehearsal model is in this process. */
  proxy: HttpProxy | undefined
  /** Sets the behaviour of the rehearsal model: REMORA_REHEARSAL_…. */
  environment: Env
  settings: SideSettings
  compare: ComparedSide | undefined
  concurrency: number
  timeoutMs: number
  retryBudgetMs: number
}

export type OpenedSides = {
  sides: [Side, Side?]
  close(): Promise<void>
}

type Closings = (() => Promise<unknown>)[]

/** Opens the side under test and the one it is compared with. CONFIG_005 when a server does not answer. */
export async function openSides(
  order: SidesOrder,
  log: Pick<Log, 'warn' | 'debug'> | undefined,
  signal: AbortSignal,
): Promise<OpenedSides> {
  const closings: Closings = []
  const close = async () => void (await Promise.all(closings.map((closing) => closing())))
  const deps = { log, closings, rehearsal: openRehearsalOnce(order.environment, closings) }
  const open = openSide.bind(undefined, order, deps, signal)
  try {
    const { model, modelName, settings, compare } = order
    const tested = await open({ model, modelName, settings })
    if (compare === undefined) return { sides: [tested], close }
    const sameName = compare.url ? undefined : modelName // another server has other models
    const others = { model: compare.url ?? model, modelName: compare.model ?? sameName }
    const other = await open({ ...others, settings: { ...settings, ...compare.settings } })
    return { sides: [tested, other], close }
  } catch (error) {
    await close()
    throw error
  }
}

type SideDeps = { log: Pick<Log, 'warn' | 'debug'> | undefined; closings: Closings; rehearsal(): Promise<string> }

async function openSide(
  { apiKey, proxy, concurrency, timeoutMs, retryBudgetMs }: SidesOrder,
  { log, closings, rehearsal }: SideDeps,
  signal: AbortSignal,
  { model, modelName, settings }: Pick<SidesOrder, 'model' | 'modelName' | 'settings'>,
): Promise<Side> {
  const isRehearsal = kindOfModel(model) === 'rehearsal'
  const urls = isRehearsal ? [await rehearsal()] : serversIn(model ?? '')
  const endpoints = urls.map((url) => (isRehearsal ? { url } : { url, apiKey }))
  const limits = { requestTimeoutMs: timeoutMs, retryBudgetMs, maxInFlight: concurrency }
  const pool = openModelPool({
    endpoints,
    ...limits,
    stream: settings.stream,
    proxy: isRehearsal ? undefined : proxy,
    ...(log === undefined ? {} : { log }),
  })
  closings.push(() => pool.close())
  const name = isRehearsal ? undefined : modelName
  if (name !== undefined) await requireAnswer(urls, { apiKey, signal })
  const servers = isRehearsal ? 'in this process' : withoutLogins(urls.join(', '))
  return { servers, model: name ?? (await firstOffered(pool)), settings, pool }
}

async function firstOffered(pool: ModelPool): Promise<string> {
  const { models } = await pool.describe()
  const [first] = models
  if (first === undefined) throw new AppError('CONFIG_005', 'no model server offers a model')
  return first
}

/** A server need not list the model that is asked for by name, so any answer will do. */
async function requireAnswer(urls: readonly string[], access: Parameters<typeof askServer>[1]): Promise<void> {
  const answers = await Promise.all(urls.map((url) => askServer(url, access)))
  access.signal.throwIfAborted()
  for (const answer of answers) await answer?.body?.cancel()
  if (answers.some((answer) => answer !== undefined)) return
  throw new AppError('CONFIG_005', `no model server answers within a second at ${withoutLogins(urls.join(', '))}`)
}

function openRehearsalOnce(env: Env, closings: Closings): () => Promise<string> {
  let url: Promise<string> | undefined
  const start = async () => {
    const rehearsal = await startRehearsal({ ...parseBehaviour(env), host: '127.0.0.1', port: 0 })
    closings.push(rehearsal.close)
    return rehearsal.url
  }
  return () => (url ??= start())
}
