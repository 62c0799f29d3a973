import type { SkippedFile } from '#domain/code-node.ts'

const told = 20

/** The first of what was passed over: as many as one event tells. */
export function firstSkipped(skipped: readonly SkippedFile[]): SkippedFile[] {
  return skipped.slice(0, told)
}
