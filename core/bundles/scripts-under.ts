import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The `.pym` files of a folder and all below it, sorted. Links are not followed; what cannot be read has none. */
export async function scriptsUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const found: string[] = []
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) found.push(...(await scriptsUnder(path)))
    else if (entry.name.endsWith('.pym')) found.push(path)
  }
  return found.toSorted()
}
