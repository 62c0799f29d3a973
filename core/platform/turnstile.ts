export type Turnstile = {
  /** Resolves when it is this caller's turn, first come first served. */
  pass(): Promise<void>
}

/**
 * Lets one caller go on per turn of the event loop, which reads and writes its sockets in between. For work that follows
 * many answers at once and can wait, so that the next requests need not wait behind it.
 */
export function openTurnstile(): Turnstile {
  const line = new Set<() => void>()
  const admit = () => {
    const [next] = line
    if (next === undefined) return
    line.delete(next)
    if (line.size > 0) setImmediate(admit)
    next()
  }
  return {
    pass: () =>
      new Promise<void>((resolve) => {
        line.add(resolve)
        if (line.size === 1) setImmediate(admit)
      }),
  }
}
