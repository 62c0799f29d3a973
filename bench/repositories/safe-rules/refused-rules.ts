import { readFile } from 'node:fs/promises'

/**
 * Rules whose fixes the record of the safe-rules bench refuses. F401 is not among them: which of its fixes may be made is
 * judged import by import.
 */
export async function readRefusedRules(): Promise<ReadonlySet<string>> {
  const record = await readFile(new URL('../safe-rules.md', import.meta.url), 'utf8')
  const [, codes] = /^## Refused\n\n`([^`]*)`$/m.exec(record) ?? []
  if (codes === undefined) throw new Error('safe-rules.md names no refused rules')
  return new Set(codes.split(' ').filter((code) => code !== 'F401'))
}
