import { expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { silentLog } from '#platform/log.ts'
import { type LogPart, openLogFollower } from './follow-log.ts'
import { serverSentEvents, sharedWire } from './frames.ts'
import { openReaders, type Sink, usualReaderLimits } from './serve-reader.ts'
import { streamBody } from './stream-body.ts'

it.for(['RUN_001', 'STORE_003'] as const)(
  'a reader that leaves while what it reads fails with %s has just left',
  async (code) => {
    const [asked, failing] = [Promise.withResolvers<void>(), Promise.withResolvers<LogPart>()]
    const ended = Promise.withResolvers<unknown>()
    const events = {
      name: 'run',
      state: { last: '5', isOver: false },
      async *look() {},
      async read() {
        asked.resolve()
        return failing.promise
      },
    }
    const logs = openLogFollower({ notices: { on: () => () => {} }, lookMs: 60_000 })
    const closing = new AbortController()
    const serve = openReaders({ logs, log: silentLog, closing: closing.signal, limits: usualReaderLimits })
    const noting = (sink: Sink): Sink => ({
      ...sink,
      end(why) {
        try {
          sink.end(why)
          ended.resolve(why)
        } catch (error) {
          ended.resolve(error)
        }
      },
    })
    const first = { type: 'connected', seq: 5, missed: 5 } as const
    const reader = { events, first, after: '0', categories: undefined, wire: sharedWire(serverSentEvents) }
    const body = streamBody((sink) => serve({ ...reader, sink: noting(sink), isAllowed: async () => true }), undefined)
    const client = body.getReader()
    await client.read()
    const reading = client.read()
    await asked.promise
    await client.cancel()
    failing.reject(new AppError(code, 'gone'))
    expect(await ended.promise).toBe('left')
    expect(await reading).toMatchObject({ done: true })
    closing.abort()
  },
)
