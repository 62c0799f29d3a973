import { randomBytes } from 'node:crypto'
import type { Logging } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { openReleaser } from '#platform/service-process.ts'
import { keptSigningKey, lockStack } from './running-stack.ts'
import { servicesEnv, storeEnv } from './stack-env.ts'
import { openStackLog } from './stack-log.ts'
import { startStores, type StoresOptions } from './stack-stores.ts'

export type IdleStores = {
  redisUrl: string
  objectsUrl: string
  /** Aborted when Redis ends by itself. */
  failed: AbortSignal
  close(): Promise<void>
}

type Releaser = ReturnType<typeof openReleaser>

/** Opens the stores of a data folder, with nothing that works on them. Errors are as for `startStack`, which waits a moment for it to end. */
export function openIdleStores(options: StoresOptions): Promise<IdleStores> {
  return orRelease(options, (releaser) => openStores(options, releaser, randomBytes(24).toString('hex')))
}

export type IdleStack = IdleStores & { token: string; answer(request: Request): Response | Promise<Response> }

type IdleOptions = StoresOptions & {
  /** The API's token; a random one when undefined. */
  token: string | undefined
  logging: Logging
  logPath: string | undefined
}

/** Opens the API over the stores of a data folder, in this process and without a port: enough to read and to decide on former runs. */
export function openIdleStack(options: IdleOptions): Promise<IdleStack> {
  return orRelease(options, async (releaser) => {
    const api = Promise.all([import('../../services/api/api-app.ts'), import('../../services/api/api-config.ts')])
    api.catch(() => {}) // it is awaited below
    const { environment = {}, logging, token = randomBytes(24).toString('base64url') } = options
    const password = randomBytes(24).toString('hex')
    const stores = await openStores(options, releaser, password)
    const signingKey = await keptSigningKey(options.dataDir)
    const secrets = [token, password, signingKey]
    const log = await openStackLog({ ...logging, path: options.logPath, append: true, redactor: openRedactor(secrets) })
    releaser.add('log', log.close)
    const [{ openApi }, { parseConfig }] = await api
    const places = storeEnv(stores.redisUrl, stores.objectsUrl, logging.level)
    const { config, secrets: own } = parseConfig(
      servicesEnv(places, { token, signingKey, port: 0, environment, publisher: {} }),
    )
    const redactor = openRedactor([...own, ...secrets])
    const { app, close } = await openApi(config, { log: log.entry, redactor })
    releaser.add('api', close)
    return { ...stores, token, answer: app.fetch }
  })
}

async function openStores(options: StoresOptions, releaser: Releaser, password: string): Promise<IdleStores> {
  const lock = await lockStack(options.dataDir, { env: options.environment, isBrief: true })
  releaser.add('lock', lock.release)
  const { redis, objectsUrl } = await startStores(options, { password, lock, releaser })
  const failure = new AbortController()
  redis.failed.catch((error: unknown) => failure.abort(error))
  return { redisUrl: redis.url, objectsUrl, failed: failure.signal, close: releaser.release }
}

async function orRelease<T>({ signal }: StoresOptions, open: (releaser: Releaser) => Promise<T>): Promise<T> {
  const releaser = openReleaser()
  try {
    return await open(releaser)
  } catch (error) {
    await releaser.release().catch(() => {}) // the first failure is the one to report
    signal.throwIfAborted()
    throw error
  }
}
