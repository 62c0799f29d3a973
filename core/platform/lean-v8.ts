import v8 from 'node:v8'

// Imported first by every main.ts, for what it does. V8 reads both flags when it needs them, so they count although the
// process has begun. The figures were seen on two cores, by the peak (VmHWM) of services/worker and services/discovery.

// On a machine with much memory the young part of the heap grows to 128 MB and more, and is kept. So it stays at the 16 MB
// it has when a process has read its code: more but shorter collections, about 100 MB less.
v8.setFlagsFromString('--semi-space-growth-factor=1')

// Ruff and tree-sitter are compiled while they work, by as many tasks at once as V8 has threads, each with its own memory:
// a worker of 300 MB had 580 to 650 at its first operations, and was slower for it.
v8.setFlagsFromString('--wasm-num-compilation-tasks=1')
