import { describe, expect, it } from 'vitest'
import type { ModelRequest, RequestShare } from '#domain/turn.ts'
import { modelRequest } from './model-server.fixture.ts'
import { good, never, refused, routerOver, watched } from './router.fixture.ts'

const shareOf = (runId: string, weight = 5, projectId = 'first'): RequestShare => ({ projectId, runId, weight })

/** A server with so many slots, which answers when the test calls `answers`; `asked` has the runs whose requests are in flight. */
function patientServer(slots: number) {
  const asked: { run: string; answer(): void }[] = []
  const ask = async ({ share }: ModelRequest) => {
    const done = Promise.withResolvers<typeof good>()
    asked.push({ run: share?.runId ?? '', answer: () => done.resolve(good) })
    return done.promise
  }
  const { router, pass } = routerOver([{ ask }], { maxInFlight: slots })
  return {
    asks(count: number, share: RequestShare) {
      for (let at = 0; at < count; at++) void router.complete({ ...modelRequest('m'), share }, never)
    },
    /** Answers the oldest request, so many times; then says how many requests of each run are at the server. */
    async answers(count: number) {
      await pass(100)
      for (let at = 0; at < count; at++) {
        asked.shift()?.answer()
        await pass(100)
      }
      const byRun = Map.groupBy(asked, ({ run }) => run)
      return Object.fromEntries([...byRun].map(([run, own]) => [run, own.length]))
    },
  }
}

describe('runs that share a server', () => {
  it('begin at once: the first request of a run gets the next slot, whatever another has queued', async () => {
    const server = patientServer(4)
    server.asks(100, shareOf('large'))
    await server.answers(6)
    server.asks(50, shareOf('small'))
    expect(await server.answers(1)).toEqual({ large: 3, small: 1 })
    expect(await server.answers(8)).toEqual({ large: 2, small: 2 })
  })

  it('have slots by their weight, and use what another leaves', async () => {
    const server = patientServer(8)
    server.asks(100, shareOf('urgent', 9))
    server.asks(100, shareOf('usual', 3))
    expect(await server.answers(16)).toEqual({ urgent: 6, usual: 2 })
    const alone = patientServer(8)
    alone.asks(100, shareOf('large'))
    alone.asks(2, shareOf('small'))
    expect(await alone.answers(20)).toEqual({ large: 8 })
  })

  it('share them by project first, however many runs a project has', async () => {
    const server = patientServer(6)
    for (const run of ['one', 'two', 'three']) server.asks(50, shareOf(run))
    server.asks(50, shareOf('other', 1, 'second'))
    expect(await server.answers(30)).toEqual({ one: 1, two: 1, three: 1, other: 3 })
  })
})

describe('what a request says of its progress', () => {
  it('is when a server works on it, not when it waits or is tried in vain', async () => {
    const calls: string[] = []
    const progress = {
      queued: () => void calls.push('queued'),
      sent: () => void calls.push('sent'),
      failed: () => void calls.push('failed'),
    }
    const busy = Promise.withResolvers<typeof good>()
    let asked = 0
    const ask = async () => {
      asked += 1
      if (asked === 1) return busy.promise
      return asked === 2 ? Promise.reject(refused()) : good
    }
    const { router, pass } = routerOver([{ ask }], { maxInFlight: 1 })
    void router.complete(modelRequest('m'), never)
    await pass(100)
    const waiting = watched(router.complete(modelRequest('m'), never, progress))
    await pass(3000)
    expect(calls).toEqual(['queued'])
    busy.resolve(good)
    await pass(3000)
    expect(calls).toEqual(['queued', 'sent', 'failed', 'sent'])
    expect(waiting.end).toMatchObject({ content: 'hi', tries: 2, queueMs: 3000 })
  })
})
