import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import type { ModelRequest } from '#domain/turn.ts'
import { allCapabilities } from '../wire/capabilities.ts'
import { modelRequest } from './model-server.fixture.ts'
import { good, never, routerOver, watched } from './router.fixture.ts'

const tool: ModelRequest['tools'][number] = { name: 'do', description: 'Does.', parameters: { type: 'object' } }
const request: ModelRequest = { ...modelRequest('m'), tools: [tool], toolChoice: 'required' }

describe('a second server', () => {
  it('is asked so long after the request was sent, not after it got a slot', async () => {
    const known = Promise.withResolvers<typeof allCapabilities>()
    const answer = Promise.withResolvers<typeof good>()
    const asked: number[] = []
    const served = [0, 1].map((server) => ({
      capabilities: () => known.promise,
      async ask() {
        asked.push(server)
        return answer.promise
      },
    }))
    const { router, pass } = routerOver(served, { hedgeAfterMs: 1000 })
    const state = watched(router.complete(request, never))
    await pass(10_000)
    known.resolve(allCapabilities)
    await pass(500)
    expect(asked).toHaveLength(1)
    await pass(1000)
    expect(new Set(asked)).toEqual(new Set([0, 1]))
    answer.resolve(good)
    await pass(100)
    expect(state.end).toMatchObject({ content: 'hi', tries: 2 })
  })

  it('that answers is reported with the failure of the first', async () => {
    const answers = [Promise.withResolvers<typeof good>(), Promise.withResolvers<typeof good>()]
    const asked: number[] = []
    const served = answers.map(({ promise }, server) => ({
      async ask() {
        asked.push(server)
        return promise
      },
    }))
    const { router, pass } = routerOver(served, { hedgeAfterMs: 1000 })
    const state = watched(router.complete(modelRequest('m'), never))
    await pass(1500)
    const [first = 0, second = 1] = asked
    answers[first]?.reject(new AppError('AGENT_002', 'no answer: ECONNRESET'))
    await pass(100)
    answers[second]?.resolve(good)
    await pass(100)
    const failed = { code: 'AGENT_002', message: 'no answer: ECONNRESET' }
    expect(state.end).toMatchObject({ content: 'hi', tries: 2, failedTries: [failed] })
  })
})
