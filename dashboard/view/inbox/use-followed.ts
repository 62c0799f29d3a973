import { useEffect } from 'preact/hooks'
import { type Connection, NoAnswer } from '#client/connection.ts'
import { readStream } from '#client/read-stream.ts'
import { pause } from '#client/timers.ts'
import type { Event, EventCategory } from '#client/wire.ts'
import { openRefresh } from '../../core/refresh.ts'
import { whileAwake } from '../../core/while-awake.ts'
import { type Loaded, useLoaded } from '../parts/use-loaded.ts'
import { usePage } from '../page-context.ts'

type Followed<T> = {
  load: (connection: Connection, signal: AbortSignal) => Promise<T>
  categories: readonly EventCategory[]
  /** Says whether what was loaded may be another after this event. */
  isAbout: (event: Event) => boolean
}

const readEveryMs = 1_000
const retryMs = 2_000

/**
 * Loads something when the page is shown and when `key` changes, and again, at most once a second, when an event says that it may be another.
 * The events are those of the project: the stream of a run ends with it, and what is shown may change after that.
 */
export function useFollowed<T>(key: string, { load, categories, isAbout }: Followed<T>): Loaded<T> {
  const { connection } = usePage()
  const loaded = useLoaded(key, (signal) => load(connection, signal))
  useEffect(() => {
    const closing = new AbortController()
    const changed = openRefresh(async () => loaded.again(), readEveryMs, closing.signal)
    void whileAwake((signal) => followEvents(connection, { categories, isAbout, changed, signal }), closing.signal)
    return () => closing.abort()
  }, [connection, key])
  return loaded
}

type Following = Pick<Followed<unknown>, 'categories' | 'isAbout'> & { changed: () => void; signal: AbortSignal }

async function followEvents(
  connection: Connection,
  { categories, isAbout, changed, signal }: Following,
): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const frame of readStream(connection, '/v1/events', { categories, signal }))
        if (frame.type !== 'event' || isAbout(frame.event)) changed()
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof NoAnswer)) changed() // what is refused says why when it is read
      await pause(retryMs, signal).catch(() => {})
    }
  }
}
