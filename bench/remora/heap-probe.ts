import { appendFileSync } from 'node:fs'

// Preloaded into the worker with --expose-gc: on SIGUSR2 it collects garbage and writes one line of `heap external`
// bytes to the file REMORA_BENCH_HEAP_FILE names.
const file = process.env['REMORA_BENCH_HEAP_FILE']
const collect = globalThis.gc
if (file === undefined || collect === undefined) throw new Error('the heap probe needs a file and --expose-gc')
process.on('SIGUSR2', () => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  appendFileSync(file, `${heapUsed} ${external}\n`)
})
