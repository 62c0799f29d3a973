/** What a child process is told so that glibc gives back what it has freed (core/platform/own-node.mjs says why). */
export const leanMemory = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
} as const
