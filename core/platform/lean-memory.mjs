// Plain JavaScript, because own-node.mjs needs it before it is known which Node there is.

/**
 * Environment variables that make glibc return freed memory to the system. Otherwise each thread keeps it, which is half of a process's
 * memory after a large archive. They only work when set before the process starts; values that the user has set take precedence.
 */
export const leanMemory = Object.freeze({
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TRIM_THRESHOLD_: '131072',
})

/**
 * Replaces this process once by itself, the program `self`, with `leanMemory` in its environment: the same process id and
 * streams. Does nothing where that is impossible or useless.
 *
 * @param {string} self
 */
export function becomeLean(self) {
  const isChild = process.send !== undefined // its parent has set it already, and its IPC channel would not survive the replacement
  if (process.platform !== 'linux' || isChild || process.env['MALLOC_ARENA_MAX'] !== undefined) return
  const args = [process.execPath, ...process.execArgv, self, ...process.argv.slice(2)]
  try {
    process.execve?.(process.execPath, args, { ...leanMemory, ...process.env })
  } catch {
    return // Node's permission model forbids it
  }
}
