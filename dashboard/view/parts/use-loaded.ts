import { useCallback, useEffect, useState } from 'preact/hooks'

/** `value` stays while it is loaded again, and when that fails. */
export type Loaded<T> = { value: T | undefined; error: unknown; again: () => void }

/** Loads something when the page is shown, again when `key` changes or `again` is called, and stops when the page is left. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; value?: T; error?: unknown }>({ key })
  const [time, setTime] = useState(0)
  useEffect(() => {
    const leaving = new AbortController()
    load(leaving.signal).then(
      (value) => setState({ key, value }),
      (error: unknown) => {
        if (!leaving.signal.aborted) setState((before) => ({ ...before, key, error }))
      },
    )
    return () => leaving.abort()
    // `load` is made anew with each drawing: its key says whether it is another.
  }, [key, time])
  const again = useCallback(() => setTime((before) => before + 1), [])
  const isCurrent = state.key === key
  return { value: isCurrent ? state.value : undefined, error: isCurrent ? state.error : undefined, again }
}
