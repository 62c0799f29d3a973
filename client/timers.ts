/** Waits `ms` milliseconds, or throws the reason of `signal` once it is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
  signal?.throwIfAborted()
}

/** Calls `late` once `heard` has not been called for `ms` milliseconds. */
export function watchSilence(ms: number, late: () => void): { heard(): void; stop(): void } {
  let timer = setTimeout(late, ms)
  const stop = () => clearTimeout(timer)
  return {
    heard() {
      stop()
      timer = setTimeout(late, ms)
    },
    stop,
  }
}
