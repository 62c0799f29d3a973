import { AppError } from '#domain/error.ts'
import { givenValue, type Env } from './env.ts'

/** The proxies that requests to other machines go through. */
export type HttpProxy = {
  /** For http URLs, and for https URLs without one of their own. */
  http: string | undefined
  https: string | undefined
  /** Hosts that are asked directly, as `NO_PROXY` lists them. */
  direct: string
}

/** The proxies of the environment, which count with NODE_USE_ENV_PROXY=1 alone, as for Node. CONFIG_003 for a wrong one. */
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
