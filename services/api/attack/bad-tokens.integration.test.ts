import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mapBounded } from '#platform/map-bounded.ts'
import { TokenCreated } from '#schemas/token-schema.ts'
import { openRateLimit, type RateLimit } from '../http/rate-limit.ts'
import { tokenText } from '../routes/access/token-record.ts'
import { openAttackedApi, type AttackedApi } from './attacked-api.fixture.ts'

const attempts = 10_000
const atOnce = 500

let api: AttackedApi
let perAddress: RateLimit
beforeAll(async () => {
  perAddress = openRateLimit({ perSecond: 1, burst: 20 })
  api = await openAttackedApi({ perAddress, limits: { maxConnections: 2 * atOnce } })
})
afterAll(() => api.close())

it('10,000 bad tokens are refused at the cost of a few readings of Redis, and good ones still get in', async () => {
  const made = await api.fetch('/v1/tokens', { method: 'POST' })
  const { token } = TokenCreated.parse(await made.json())
  const readsBefore = api.tokenStore.reads
  const statuses = new Map<number, number>()
  const good: number[] = []
  const ask = async (bearer: string) => {
    const answer = await api.fetch('/v1/runs', { headers: { authorization: `Bearer ${bearer}` } })
    await answer.body?.cancel()
    return answer.status
  }
  const tokens = Array.from({ length: attempts }, (_, index) =>
    index % 4 === 0 ? `guess-${index}` : tokenText(randomBytes(32)),
  )
  await mapBounded([...tokens.entries()], atOnce, async ([index, bad]) => {
    const status = await ask(bad)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (index % 500 === 0) good.push(await ask(token), await ask(api.token))
  })
  expect(new Set(statuses.keys())).toEqual(new Set([401, 429]))
  expect((statuses.get(401) ?? 0) + (statuses.get(429) ?? 0)).toBe(attempts)
  expect(statuses.get(401)).toBeLessThan(attempts / 20)
  expect(good).toEqual(Array.from({ length: 40 }, () => 200))
  // Without the shared reading it would be one for each of the 7,500 that look like tokens.
  expect(api.tokenStore.reads - readsBefore).toBeLessThan(attempts / 20)
  expect(perAddress.size()).toBeLessThanOrEqual(3)
}, 120_000)
