import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Longer than any download or build lasts. */
const usedMs = 1_200_000

/**
 * Removes what downloads and builds of Redis left in `dir` when they were killed: folders whose name begins with one of
 * `prefixes` and that are older than 20 minutes, except one that the script `redis-server` starts its server from.
 */
export async function removeAbandoned(dir: string, prefixes: readonly string[]): Promise<void> {
  const script = await readFile(join(dir, 'redis-server'), 'latin1').catch(() => '')
  for (const name of await readdir(dir)) {
    if (!prefixes.some((prefix) => name.startsWith(prefix)) || script.includes(`/${name}/`)) continue
    const folder = join(dir, name)
    const changedMs = (await stat(folder).catch(() => undefined))?.mtimeMs ?? Infinity
    if (changedMs > Date.now() - usedMs) continue
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
