import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { sha256 } from '#domain/hash.ts'
import { openLog } from '#platform/log.ts'
import type { ApiEnv } from './api-env.ts'
import { bearerAuth } from './auth.ts'
import { problemHandler } from './problem.ts'

const tokens = [
  { hash: sha256('first-token-0001'), projectId: 'alpha' },
  { hash: sha256('second-token-002'), projectId: 'beta' },
]
const app = new Hono<ApiEnv>()
app.onError(problemHandler({ log: openLog({ service: 'api', level: 'silent' }), isRedisReady: () => true }))
app.use(bearerAuth(tokens))
app.get('/', (c) => c.text(c.get('projectId')))

const ask = (authorization?: string) =>
  app.request('/', authorization === undefined ? {} : { headers: { authorization } })

describe('bearerAuth', () => {
  it.for([
    ['Bearer first-token-0001', 'alpha'],
    ['bearer second-token-002', 'beta'],
  ])('opens the project of its token: %s', async ([header, project]) => {
    expect(await (await ask(header)).text()).toBe(project)
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
})
