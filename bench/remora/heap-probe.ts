import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

// Preloaded into the worker with --expose-gc: on SIGUSR2 it collects garbage and appends one line of `heap external`
// in bytes to the file that REMORA_BENCH_HEAP_FILE names. The worker's threads load it, too; there it does nothing.
const file = process.env['REMORA_BENCH_HEAP_FILE']
const collect = globalThis.gc
if (isMainThread) {
  if (file === undefined || collect === undefined) throw new Error('the heap probe needs a file and --expose-gc')
  process.on('SIGUSR2', () => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    appendFileSync(file, `${heapUsed} ${external}\n`)
  })
}
