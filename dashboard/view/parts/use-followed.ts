import { useEffect, useState } from 'preact/hooks'
import type { Connection } from '#client/connection.ts'
import type { EventCategory } from '#client/wire.ts'
import { followStream } from '../../core/while-awake.ts'
import { openRefresh } from '../../core/refresh.ts'
import { usePage } from '../page-context.ts'
import { type Loaded, useLoaded } from './use-loaded.ts'

type Followed<T> = {
  load: (connection: Connection, signal: AbortSignal) => Promise<T>
  categories: readonly EventCategory[]
}

const readEveryMs = 1_000

/** Loads something when the page is shown, and again, at most once a second, when an event of the project says that it may be another. */
export function useFollowed<T>(key: string, { load, categories }: Followed<T>): Loaded<T> {
  const { connection } = usePage()
  const loaded = useLoaded(key, (signal) => load(connection, signal))
  const [fault, setFault] = useState<unknown>()
  useEffect(() => {
    const leaving = new AbortController()
    const changed = openRefresh(async () => loaded.again(), readEveryMs, leaving.signal)
    void followStream(connection, {
      path: '/v1/events',
      categories,
      onFrame(frame) {
        if (frame.type === 'connected') setFault(undefined)
        changed()
      },
      onFault: setFault,
      closing: leaving.signal,
    })
    return () => leaving.abort()
  }, [connection, key])
  return { ...loaded, error: loaded.error ?? fault }
}
