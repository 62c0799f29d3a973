import { PerformanceObserver } from 'node:perf_hooks'
import v8 from 'node:v8'

// Imported first by every main.ts, for its side effects. V8 reads these flags when it needs them, so they work although
// the process has started. The figures are peaks (VmHWM) of services/worker and services/discovery on two cores.

// V8 compiles Ruff and tree-sitter while they run, with as many tasks at once as it has threads, each with its own memory:
// a worker of 300 MB had 580 to 650 MB at its first operations, and was slower.
v8.setFlagsFromString('--wasm-num-compilation-tasks=1')

// Of a young generation as small as this one, no collection is long enough to be shared among threads: that only costs CPU.
v8.setFlagsFromString('--no-parallel-scavenge')

/** Counts both halves of the young generation, of which one is in use. */
const mostYoungBytes = 16 * 2 ** 20

// On a machine with much memory the young generation of the heap grows to 128 MB and more. At `mostYoungBytes` it stops to grow:
// more but shorter collections, and about 100 MB less. V8 shrinks it while a process is idle, so growth is allowed again below:
// with the 2 MB that one idle minute leaves, a worker collects once per operation, for a quarter of its CPU.
let factor = 0
function boundGrowth(): void {
  const young = v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  const next = (young?.space_size ?? 0) < mostYoungBytes ? 2 : 1
  if (next !== factor) v8.setFlagsFromString(`--semi-space-growth-factor=${next}`)
  factor = next
}
boundGrowth()
new PerformanceObserver(boundGrowth).observe({ entryTypes: ['gc'] })

// Threads begin with what their limits allow (platform/thread-pool.ts): the factor is the process's, and none of their own.
v8.setFlagsFromString('--min-semi-space-size=4')

/**
 * Keeps a process lean that does little at once; called before any WebAssembly. Garbage is collected when the old generation has
 * grown by 30 % instead of up to 300 %: about 100 MB less after some hundred operations.
 */
export function stayLean(): void {
  v8.setFlagsFromString('--heap-growing-percent=30')
  v8.setFlagsFromString('--no-wasm-tier-up')
  v8.setFlagsFromString('--no-wasm-dynamic-tiering')
}
