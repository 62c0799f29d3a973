import type { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { type Env, proxyOf, readEnv } from '#platform/env.ts'
import { withoutLogin } from '#platform/hide-secrets.ts'
import { modelServerUrl } from '#platform/server-urls.ts'
import { rehearsalWord } from './model-settings.ts'
import { environmentOf } from './settings-table.ts'

export type ModelServer = {
  url: string
  models: readonly string[]
  maxInFlightOfAll: number
}

const rehearsalUrl = 'http://127.0.0.1:8421/v1'

const usedEnv = environmentOf('conductor')

type ModelValues = Pick<
  z.infer<z.ZodObject<typeof usedEnv>>,
  | 'REMORA_MODEL'
  | 'REMORA_MODEL_URLS'
  | 'REMORA_MODEL_POOL'
  | 'REMORA_MODEL_API_KEY'
  | 'REMORA_MODEL_MAX_IN_FLIGHT'
  | 'REMORA_MODEL_TEMPERATURE'
  | 'REMORA_MODEL_TOOL_CHOICE'
  | 'REMORA_MODEL_STREAM'
  | 'REMORA_MODEL_RETRY_BUDGET_MS'
  | 'REMORA_MODEL_TIMEOUT_MS'
  | 'REMORA_MODEL_HEDGE_AFTER_MS'
>

/** Reads how a service reaches its models. Throws CONFIG_003 for details of a server that it does not have. */
export function modelConfig(read: ModelValues, env: Env) {
  const { REMORA_MODEL_HEDGE_AFTER_MS: hedgeAfterMs } = read
  return {
    name: read.REMORA_MODEL,
    servers: modelServers(read),
    apiKey: read.REMORA_MODEL_API_KEY,
    temperature: read.REMORA_MODEL_TEMPERATURE,
    toolChoice: read.REMORA_MODEL_TOOL_CHOICE,
    stream: read.REMORA_MODEL_STREAM,
    retryBudgetMs: read.REMORA_MODEL_RETRY_BUDGET_MS,
    timeoutMs: read.REMORA_MODEL_TIMEOUT_MS,
    hedgeAfterMs: hedgeAfterMs === 0 ? undefined : hedgeAfterMs,
    proxy: proxyOf(env),
  }
}

const serversEnv = {
  REMORA_MODEL_URLS: usedEnv.REMORA_MODEL_URLS,
  REMORA_MODEL_POOL: usedEnv.REMORA_MODEL_POOL,
  REMORA_MODEL_MAX_IN_FLIGHT: usedEnv.REMORA_MODEL_MAX_IN_FLIGHT,
}

/** Throws CONFIG_003 where a service with this environment would not start because of its model servers. */
export function checkModelServers(env: Env): void {
  modelServers(readEnv(serversEnv, env))
}

type ServersRead = z.infer<z.ZodObject<typeof serversEnv>>

function modelServers(read: ServersRead): ModelServer[] {
  const named = read.REMORA_MODEL_URLS ?? read.REMORA_MODEL_POOL.map(({ url }) => url)
  const isRehearsal = named[0] === rehearsalWord
  const urls = isRehearsal || named.length === 0 ? [rehearsalUrl] : named
  const foreign = read.REMORA_MODEL_POOL.find((details) => !urls.some((url) => isSameServer(url, details.url)))
  // `rehearsal` overrides the servers in remora.yaml on purpose.
  if (foreign !== undefined && !isRehearsal) {
    const words = `bad environment: REMORA_MODEL_POOL: ${withoutLogin(foreign.url)} is not one of the servers in REMORA_MODEL_URLS`
    throw new AppError('CONFIG_003', words)
  }
  return urls.map((url) => {
    const details = read.REMORA_MODEL_POOL.find((server) => isSameServer(url, server.url))
    const maxInFlightOfAll = details?.max_in_flight ?? read.REMORA_MODEL_MAX_IN_FLIGHT
    return { url, models: details?.models ?? [], maxInFlightOfAll }
  })
}

function isSameServer(url: string, other: string): boolean {
  return modelServerUrl(url) === modelServerUrl(other)
}
