import { expect } from 'vitest'
import { errorPolicies } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { Problem } from '#schemas/problem-schema.ts'
import { openTestApi, type TestApi, type TestApiOptions } from '../app.fixture.ts'
import { serveApp, type ServeLimits } from '../http/serve-app.ts'

export type AttackedApi = TestApi & {
  url: string
  /** Asks over the real port with the good token; fails instead of hanging. */
  fetch(path: string, init?: RequestInit): Promise<Response>
}

/** The API behind a real server, over real stores. */
export async function openAttackedApi(
  options: TestApiOptions & { limits?: Partial<ServeLimits> } = {},
): Promise<AttackedApi> {
  const { limits, ...rest } = options
  const api = await openTestApi(await testRedis(), await testObjects(), rest)
  const served = await serveApp(api.app, { host: '127.0.0.1', port: 0, graceMs: 1_000, ...(limits ? { limits } : {}) })
  return {
    ...api,
    url: served.url,
    fetch: (path, init = {}) => {
      const headers = { authorization: `Bearer ${api.token}`, ...Object.fromEntries(new Headers(init.headers)) }
      return fetch(`${served.url}${path}`, { ...init, headers, signal: AbortSignal.timeout(90_000) })
    },
    async close() {
      await served.close()
      await api.close()
    },
  }
}

/** A good answer, or a problem with a code that says whose fault it was: never ours. */
export async function expectAnswer(answer: Response): Promise<number> {
  const text = await answer.text()
  if (answer.status < 400) return answer.status
  const problem = Problem.parse(parseJson(text))
  expect(answer.status, text).toBeLessThan(500)
  expect(problem.status).toBe(answer.status)
  expect(errorPolicies[problem.error_code].status).toBe(answer.status)
  return answer.status
}
