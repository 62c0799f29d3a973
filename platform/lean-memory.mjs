// Plain JavaScript, because own-node.mjs needs it before it is known which Node there is.

/** Makes glibc return freed memory: half of a process's after a large archive. Counts only when set before the start; users' values win. */
export const leanMemory = Object.freeze({
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TRIM_THRESHOLD_: '131072',
})

/**
 * Flags of V8 for a process that lasts: those that only work when set before it starts. On a machine with much memory the young
 * generation would grow to 128 MB and more; at 16 MB there are more but shorter collections, and about 100 MB less. With half of that a
 * worker takes a tenth more CPU for an operation on the standard library, and as much memory at its peak (two pairs).
 */
export const lastingFlags = ['--max-semi-space-size=8']

/**
 * Replaces this process once by itself, the program `self`, with `leanMemory` in its environment and `lastingFlags`: the same process
 * id and streams. Does nothing where that is impossible or useless.
 *
 * @param {string} self
 */
export function becomeLean(self) {
  const isChild = process.send !== undefined // its parent has set it already, and its IPC channel would not survive the replacement
  const missing = lastingFlags.filter((flag) => !process.execArgv.includes(flag))
  const isLean = process.env['MALLOC_ARENA_MAX'] !== undefined && missing.length === 0
  if (process.platform !== 'linux' || isChild || isLean) return
  const args = [process.execPath, ...missing, ...process.execArgv, self, ...process.argv.slice(2)]
  try {
    process.execve?.(process.execPath, args, { ...leanMemory, ...process.env })
  } catch {
    return // Node's permission model forbids it
  }
}
