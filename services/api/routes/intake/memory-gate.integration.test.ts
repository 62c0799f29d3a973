import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSmallRedis, type SmallRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { openTestApi, runForm, tarOf, type TestApi } from '../../app.fixture.ts'

let small: SmallRedis
let api: TestApi
beforeAll(async () => {
  small = await openSmallRedis()
  const { url, close } = small
  api = await openTestApi({ url, namespace: 'remora', close }, await testObjects())
})
afterAll(() => api.close())

const submit = async () => {
  const body = runForm(await tarOf({ 'a.py': 'x = 1\n' }))
  return api.ask('/v1/runs', { method: 'POST', body })
}

describe('POST /v1/runs', () => {
  it('takes no run in while Redis is nearly full, says why and when to come again, and takes them in afterwards', async () => {
    expect((await submit()).status).toBe(202)
    await small.fillTo(0.85)
    const uploads = async () => (await Array.fromAsync(api.objects.list(`projects/${api.project}/uploads/`))).length
    const before = await uploads()
    const answer = await submit()
    expect(answer.status).toBe(503)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await answer.json()).toMatchObject({
      error_code: 'STORE_001',
      detail: expect.stringMatching(/^Redis uses [89]\d % of its memory; no new run is accepted above 80 %\.$/),
    })
    expect(await uploads()).toBe(before)
    await small.empty()
    expect((await submit()).status).toBe(202)
  })
})
