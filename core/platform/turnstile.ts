export type Turnstile = {
  /** Resolves when it is this caller's turn, first come first served. */
  pass(): Promise<void>
}

/**
 * Lets `perTurn` callers go on per turn of the event loop, which reads and writes its sockets in between. For work that
 * follows many answers at once and can wait, so that the next requests need not wait behind it. More to a turn save turns,
 * each of which asks the system about its sockets.
 */
export function openTurnstile(perTurn: number): Turnstile {
  const line = new Set<() => void>()
  const admit = () => {
    const admitted = [...line.values().take(perTurn)]
    for (const next of admitted) line.delete(next)
    if (line.size > 0) setImmediate(admit)
    for (const next of admitted) next()
  }
  return {
    pass: () =>
      new Promise<void>((resolve) => {
        line.add(resolve)
        if (line.size === 1) setImmediate(admit)
      }),
  }
}
