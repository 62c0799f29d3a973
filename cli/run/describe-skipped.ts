import type { SkippedFile } from '#domain/code-node.ts'

const shown = 3

/** How much was passed over, and the first of it with its reasons, for one line. `total` may be more than is listed. */
export function describeSkipped(skipped: readonly SkippedFile[], total = skipped.length): string {
  const first = skipped.slice(0, shown).map(({ path, reason }) => `${path} (${reason})`)
  return `${total}: ${first.join(', ')}${total > first.length ? ' …' : ''}`
}
