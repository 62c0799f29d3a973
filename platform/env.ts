import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { plainWords } from './schema-faults.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** An empty or blank variable counts as unset, since deployments often pass on variables without a value. */
export function givenValue(env: Env, name: string): string | undefined {
  const value = env[name]
  return value?.trim() === '' ? undefined : value
}

/** Reads the variables in `shape`. CONFIG_003 names every bad one in a single error. */
export function readEnv<Shape extends z.ZodRawShape>(shape: Shape, env: Env): z.infer<z.ZodObject<Shape>> {
  const values = Object.fromEntries(Object.keys(shape).map((name) => [name, givenValue(env, name)]))
  const parsed = z.object(shape).safeParse(values, { error: plainWords, jitless: true })
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new AppError('CONFIG_003', `bad environment: ${faults.join('; ')}`)
}

export type HttpProxy = {
  /** Serves http URLs, and https URLs without one of their own. */
  http: string | undefined
  https: string | undefined
  /** Hosts that need no proxy, as `NO_PROXY` lists them. */
  direct: string
}

/** Reads the proxies, which count only with NODE_USE_ENV_PROXY=1, as in Node. Throws CONFIG_003 for one that is not a URL. */
export function proxyOf(env: Env): HttpProxy | undefined {
  if (env['NODE_USE_ENV_PROXY'] !== '1') return undefined
  const [http, https] = [proxyIn(env, 'HTTP_PROXY'), proxyIn(env, 'HTTPS_PROXY')]
  const direct = givenValue(env, 'no_proxy') ?? givenValue(env, 'NO_PROXY') ?? ''
  return http === undefined && https === undefined ? undefined : { http, https, direct }
}

function proxyIn(env: Env, name: string): string | undefined {
  const proxy = givenValue(env, name.toLowerCase()) ?? givenValue(env, name)
  if (proxy === undefined || URL.canParse(proxy)) return proxy
  throw new AppError('CONFIG_003', `bad environment: ${name}: must be a URL, such as http://proxy:3128`)
}
