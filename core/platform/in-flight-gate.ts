export type InFlightGate = {
  /** Waits in line for a place, first come first served; the answer gives it back and may be called once only. */
  enter(signal: AbortSignal): Promise<() => void>
  free(): number
}

/** Lets at most `limit` requests through at a time. Whoever is aborted leaves the line with the signal's reason. */
export function openInFlightGate(limit: number): InFlightGate {
  const line = new Set<() => void>()
  let taken = 0
  const leave = () => {
    const [next] = line
    if (next === undefined) {
      taken -= 1
      return
    }
    line.delete(next)
    next() // the place goes to the next in line without becoming free
  }
  const stand = (signal: AbortSignal) =>
    new Promise<boolean>((resolve) => {
      const admit = () => {
        signal.removeEventListener('abort', quit)
        resolve(true)
      }
      const quit = () => {
        line.delete(admit)
        resolve(false)
      }
      line.add(admit)
      signal.addEventListener('abort', quit, { once: true })
    })
  return {
    async enter(signal) {
      signal.throwIfAborted()
      if (taken < limit) {
        taken += 1
        return leave
      }
      const admitted = await stand(signal)
      if (!admitted) signal.throwIfAborted()
      return leave
    },
    free: () => limit - taken,
  }
}
