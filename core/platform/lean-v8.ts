import v8 from 'node:v8'

// Imported first by every main.ts, for its side effects. V8 reads both flags when it needs them, so they work although
// the process has started. The figures are peaks (VmHWM) of services/worker and services/discovery on two cores.

// On a machine with much memory the young generation of the heap grows to 128 MB and more, and does not shrink. This keeps
// it at the 16 MB that it has once the code is loaded: more but shorter collections, and about 100 MB less.
v8.setFlagsFromString('--semi-space-growth-factor=1')

// V8 compiles Ruff and tree-sitter while they run, with as many tasks at once as it has threads, each with its own memory:
// a worker of 300 MB had 580 to 650 MB at its first operations, and was slower.
v8.setFlagsFromString('--wasm-num-compilation-tasks=1')

/**
 * For a process that does little at once, before it uses any WebAssembly. Garbage is collected when the old generation of a heap has
 * grown by 30 %, and not by up to 300 %: about 100 MB less after some hundred operations. And WebAssembly keeps the code of V8's
 * baseline compiler: for the five largest functions of Ruff alone, the optimising one takes 18 s of CPU and 100 to 130 MB, which
 * saves a millisecond of CPU for each text from then on.
 */
export function stayLean(): void {
  v8.setFlagsFromString('--heap-growing-percent=30')
  v8.setFlagsFromString('--no-wasm-tier-up')
  v8.setFlagsFromString('--no-wasm-dynamic-tiering')
}
