const echoMs = 500

/**
 * Tells the signals of one process apart: the first, its echo within half a second (npx, a terminal, a process group and
 * own-node.mjs all hand the same one on), and one that somebody sent again.
 */
export function openSignalFilter(): () => 'first' | 'echo' | 'again' {
  let firstAt: number | undefined
  return () => {
    if (firstAt !== undefined) return performance.now() - firstAt > echoMs ? 'again' : 'echo'
    firstAt = performance.now()
    return 'first'
  }
}
