import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

/** `value` stays while it is loaded again, and when that fails. */
export type Loaded<T> = { value: T | undefined; error: unknown; again: () => void }

/**
 * Loads something when the page is shown, again when `key` changes or `again` is called, and stops when the page is left. What is wanted again
 * while it is loaded comes after that, so that many wishes never starve it.
 */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; value?: T; error?: unknown }>({ key })
  const [time, setTime] = useState(0)
  const progress = useRef({ isLoading: false, isWanted: false })
  useEffect(() => {
    const leaving = new AbortController()
    progress.current = { isLoading: true, isWanted: false }
    const ended = () => {
      progress.current.isLoading = false
      if (progress.current.isWanted) setTime((before) => before + 1)
    }
    load(leaving.signal).then(
      (value) => {
        if (leaving.signal.aborted) return undefined
        setState({ key, value })
        return ended()
      },
      (error: unknown) => {
        if (leaving.signal.aborted) return
        setState((before) => (before.key === key ? { ...before, error } : { key, error }))
        ended()
      },
    )
    return () => leaving.abort()
    // `load` is made anew with each drawing: its key says whether it is another.
  }, [key, time])
  const again = useCallback(() => {
    if (progress.current.isLoading) progress.current.isWanted = true
    else setTime((before) => before + 1)
  }, [])
  const isCurrent = state.key === key
  return { value: isCurrent ? state.value : undefined, error: isCurrent ? state.error : undefined, again }
}
