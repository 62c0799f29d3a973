// Plain JavaScript, because own-node.mjs needs it before it is known which Node there is.

/**
 * What a process is told so that glibc gives back what it has freed: each thread keeps it for itself alone, half of what a
 * process holds after a large archive. It counts only from a process's start; what a user says himself goes before it.
 */
export const leanMemory = Object.freeze({
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TRIM_THRESHOLD_: '131072',
})

/**
 * Replaces this process once by itself, the program `self`, with `leanMemory` in its environment: the same process id and
 * streams. Goes on as it is where that cannot be, or nothing is to be gained.
 *
 * @param {string} self
 */
export function becomeLean(self) {
  const isChild = process.send !== undefined // its parent has said it, and its channel would not outlive this
  if (process.platform !== 'linux' || isChild || process.env['MALLOC_ARENA_MAX'] !== undefined) return
  const args = [process.execPath, ...process.execArgv, self, ...process.argv.slice(2)]
  try {
    process.execve?.(process.execPath, args, { ...leanMemory, ...process.env })
  } catch {
    return // Node's permission model forbids it
  }
}
