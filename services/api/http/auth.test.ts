import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { openLog } from '#platform/log.ts'
import type { ApiEnv } from './api-env.ts'
import { bearerAuth } from './auth.ts'
import { problemHandler } from './problem.ts'
import { openRateLimit } from './rate-limit.ts'

const tokens = [
  { hash: sha256('first-token-0001'), projectId: 'alpha' },
  { hash: sha256('second-token-002'), projectId: 'beta' },
]
const none = { perSecond: 0, burst: 1 }

function appWith(limits: { perToken?: typeof none; perAddress?: typeof none } = {}) {
  const app = new Hono<ApiEnv>()
  app.onError(problemHandler({ log: openLog({ service: 'api', level: 'silent' }), isRedisReady: () => true }))
  const perToken = openRateLimit(limits.perToken ?? none)
  const perMinute = { take: async () => 0 }
  const perAddress = openRateLimit(limits.perAddress ?? none)
  const findStored = async (token: string) =>
    token === 'stored' ? { projectId: 'gamma', scopes: [], tokenId: 't1', isOperator: false } : undefined
  app.use(bearerAuth({ tokens, findStored, perToken, perMinute, perAddress }))
  app.get('/', (c) => c.json(c.get('caller')))
  return (authorization?: string) => app.request('/', authorization === undefined ? {} : { headers: { authorization } })
}
const ask = appWith()

describe('bearerAuth', () => {
  it.for([
    ['Bearer first-token-0001', 'alpha'],
    ['bearer second-token-002', 'beta'],
    ['Bearer stored', 'gamma'],
  ])('opens the project of its token: %s', async ([header, projectId]) => {
    expect(await (await ask(header)).json()).toMatchObject({ projectId })
  })

  it.for([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer first-token-000',
    'Bearer first-token-00011',
    'Bearer first-token-0001 second-token-002',
    'Basic first-token-0001',
    'first-token-0001',
    `Bearer ${sha256('first-token-0001')}`,
  ])('refuses %j', async (header) => {
    const answer = await ask(header)
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="remora"')
    expect(await answer.json()).toMatchObject({ error_code: 'AUTH_001' })
  })

  it('slows down a token that asks too often, and only that one', async () => {
    const asking = appWith({ perToken: { perSecond: 0.001, burst: 3 } })
    const statuses = await statusesOf(asking, 4, 'Bearer first-token-0001')
    expect(statuses).toEqual([200, 200, 200, 429])
    const refused = await asking('Bearer first-token-0001')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ error_code: 'LIMIT_001' })
    expect((await asking('Bearer second-token-002')).status).toBe(200)
  })

  it('slows down who sends unknown tokens, and still lets the known ones of that address in', async () => {
    const asking = appWith({ perAddress: { perSecond: 0.001, burst: 2 } })
    expect(await statusesOf(asking, 3, 'Bearer nobody')).toEqual([401, 401, 429])
    expect((await asking('Bearer first-token-0001')).status).toBe(200)
    expect((await asking('Bearer stored')).status).toBe(200)
  })
})

async function statusesOf(asking: typeof ask, times: number, header: string): Promise<number[]> {
  const statuses: number[] = []
  for (let time = 0; time < times; time += 1) statuses.push((await asking(header)).status)
  return statuses
}
