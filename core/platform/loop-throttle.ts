export type LoopThrottle = {
  /** Resolves when this caller may continue, first come first served. */
  pass(): Promise<void>
}

/**
 * Lets `perTurn` callers continue in each turn of the event loop, which reads and writes its sockets between two turns.
 * For work that follows many answers at once and can wait, so that it does not delay the next requests. A larger
 * `perTurn` needs fewer turns, each of which asks the system about its sockets.
 */
export function openLoopThrottle(perTurn: number): LoopThrottle {
  const waiting = new Set<() => void>()
  const admit = () => {
    const admitted = [...waiting.values().take(perTurn)]
    for (const next of admitted) waiting.delete(next)
    if (waiting.size > 0) setImmediate(admit)
    for (const next of admitted) next()
  }
  return {
    pass: () =>
      new Promise<void>((resolve) => {
        waiting.add(resolve)
        if (waiting.size === 1) setImmediate(admit)
      }),
  }
}
