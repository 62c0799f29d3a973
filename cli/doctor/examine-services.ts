import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import { rehearsalLabel } from '#domain/model-kind.ts'
import { redisCheck } from '#store/ledger/redis-check.ts'
import { untilAborted } from '#platform/clock.ts'
import { withoutLogin } from '#platform/hide-secrets.ts'
import { silentLog } from '#platform/log.ts'
import { readAtMost } from '#platform/read-body.ts'
import type { PartState } from '#platform/readiness.ts'
import { connectRedis } from '#platform/redis-client.ts'
import { ReadinessParts } from '#schemas/readiness-schema.ts'
import { openApiClient } from '../api-client.ts'
import type { CliConfig } from '../cli-config.ts'
import { adviceOn } from '../describe-failure.ts'
import { askServer, serversIn } from '../model-server.ts'
import { fine, type Diagnosis, lacking, missing } from './diagnosis.ts'

const lookMs = 1_000
const mostModelBytes = 8_000_000
const Models = z.object({ data: z.array(z.object({ id: z.string() })) })

/** Says whether the service that REMORA_API_URL names answers and knows the token; empty without that variable. */
export async function examineApi({ apiUrl, token }: CliConfig, signal: AbortSignal): Promise<Diagnosis[]> {
  if (apiUrl === undefined) return []
  const limit = AbortSignal.any([signal, AbortSignal.timeout(lookMs)])
  const client = openApiClient({ url: apiUrl, token, signal: limit })
  try {
    await client.listRuns({ limit: 1 })
    const answers = fine('api', `${withoutLogin(apiUrl)} answers, and knows the token`)
    return [answers, ...(await examineRedisUser(apiUrl, limit))]
  } catch (error) {
    signal.throwIfAborted()
    const message =
      error instanceof AppError ? error.message : `${withoutLogin(apiUrl)} does not answer within a second`
    const advice = (error instanceof AppError && adviceOn(error)) || 'check REMORA_API_URL'
    return [missing('api', message, advice)]
  }
}

/** Asks the Redis that REMORA_REDIS_URL names whether it takes and keeps what it is given; empty without that variable. */
export async function examineRedisServer({ storage }: CliConfig, signal: AbortSignal): Promise<Diagnosis[]> {
  if (storage === undefined) return []
  const limit = AbortSignal.any([signal, AbortSignal.timeout(lookMs)])
  const { redis } = connectRedis(storage.redisUrl, { retries: 0, connectTimeoutMs: lookMs }, silentLog)
  const answer = untilAborted(redisCheck(redis)(limit), limit)
  const { state, message } = await answer.catch((): PartState => ({
    state: 'away',
    message: 'no answer within a second',
  }))
  redis.disconnect()
  const health = `${withoutLogin(storage.redisUrl)}: ${message}`
  if (state === 'ok') return [fine('redis server', health)]
  return [missing('redis server', health, 'docs/guide/operations.md says what it needs')]
}

const Ready = z.object({ parts: ReadinessParts })

/** Says whether the API has a user of its own in Redis, as the API reports it. */
async function examineRedisUser(apiUrl: string, signal: AbortSignal): Promise<Diagnosis[]> {
  const answer = await fetch(new URL('/readyz', apiUrl), { signal }).catch(() => undefined)
  const { data } = Ready.safeParse(await answer?.json().catch(() => undefined))
  const user = data?.parts['redis_user']
  return user === undefined ? [] : [fine('redis user', user.message)]
}

export async function examineS3({ storage }: CliConfig, signal: AbortSignal): Promise<Diagnosis> {
  if (storage === undefined) return fine('s3', 'not needed: objects are files in the data folder')
  const { endpoint, region } = storage.s3
  if (endpoint === undefined) return fine('s3', `AWS, ${region}`)
  if (endpoint.startsWith('file:')) return examineFolder(fileURLToPath(endpoint))
  const limit = AbortSignal.any([signal, AbortSignal.timeout(lookMs)])
  const answer = await fetch(endpoint, { method: 'HEAD', signal: limit }).catch(() => undefined)
  if (answer !== undefined) return fine('s3', `${withoutLogin(endpoint)} answers ${answer.status}`)
  const silence = `${withoutLogin(endpoint)} does not answer within a second`
  return missing('s3', silence, 'start it, or check REMORA_S3_ENDPOINT')
}

function examineFolder(path: string): Diagnosis {
  if (existsSync(path)) return fine('s3', `the folder ${path}`)
  return missing('s3', `there is no folder ${path}`, 'make it, or check REMORA_S3_ENDPOINT')
}

export async function examineModels(config: CliConfig, signal: AbortSignal): Promise<Diagnosis[]> {
  const { modelUrls, modelApiKey, settings } = config
  if (settings.keyFault !== undefined) {
    const { code, message } = settings.keyFault
    return [lacking('model', `${code} ${message}`, 'until this is settled, only the rehearsal model can be used')]
  }
  const servers = serversIn(modelUrls ?? '')
  if (servers.length === 0) return [fine('model', `${rehearsalLabel}: set REMORA_MODEL_URLS, or use --model`)]
  return Promise.all(
    servers.map(async (server) => judgeModel(server, await askServer(server, { signal, apiKey: modelApiKey }))),
  )
}

async function judgeModel(server: string, answer: Response | undefined): Promise<Diagnosis> {
  const at = withoutLogin(server)
  const silent = `CONFIG_005 ${at} does not answer within a second`
  if (answer === undefined) return lacking('model', silent, 'start it, or check the URL')
  const read = await readAtMost(answer.body, mostModelBytes).catch(() => new Uint8Array())
  const models = Models.safeParse(parseJson(Buffer.from(read).toString())).data
  if (models !== undefined) return fine('model', `${at} offers ${models.data.map(({ id }) => id).join(', ') || 'none'}`)
  const advice =
    answer.status === 401 || answer.status === 403
      ? 'set REMORA_MODEL_API_KEY'
      : 'check the URL: it usually ends with /v1'
  return lacking('model', `${at} answers ${answer.status}, and no list of models`, advice)
}
