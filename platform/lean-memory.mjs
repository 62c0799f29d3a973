// Plain JavaScript, because own-node.mjs needs it before it is known which Node there is.

/** Makes glibc return freed memory: half of a process's after a large archive. Counts only when set before the start; users' values win. */
export const leanMemory = Object.freeze({
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TRIM_THRESHOLD_: '131072',
})

/** A worker with at most so many slots takes as little memory as it can; one with more spends memory to save CPU. */
export const fewSlots = 16

/**
 * Flags of V8 for a worker that is started with `env`: those that only work when set before the process starts. A young generation
 * of 16 MB takes 24 MB more than one of 4; one of 8 takes hardly more than that, and a tenth less CPU per operation (the standard
 * library, two pairs). A settings file may say otherwise of the slots, and is not read yet: the worker then starts again
 * (services/worker/main.ts).
 *
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {string[]}
 */
export function leanFlags(env) {
  return Number(env['REMORA_WORKER_SLOTS'] ?? fewSlots) <= fewSlots ? ['--max-semi-space-size=8'] : []
}

/**
 * Replaces this process once by itself, the program `self`, with `leanMemory` in its environment, with `flags` of V8 and without
 * those of `dropped`: the same process id and streams. Does nothing where that is impossible or useless.
 *
 * @param {string} self
 * @param {readonly string[]} flags
 * @param {readonly string[]} dropped
 */
export function becomeLean(self, flags, dropped = []) {
  const isChild = process.send !== undefined // its parent has set it already, and its IPC channel would not survive the replacement
  const missing = flags.filter((flag) => !process.execArgv.includes(flag))
  const wanted = [...missing, ...process.execArgv.filter((flag) => !dropped.includes(flag))]
  const isLean = process.env['MALLOC_ARENA_MAX'] !== undefined && wanted.join() === process.execArgv.join()
  if (process.platform !== 'linux' || isChild || isLean) return
  const args = [process.execPath, ...wanted, self, ...process.argv.slice(2)]
  try {
    process.execve?.(process.execPath, args, { ...leanMemory, ...process.env })
  } catch {
    return // Node's permission model forbids it
  }
}
