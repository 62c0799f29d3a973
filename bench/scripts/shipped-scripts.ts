import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'

const agents = fileURLToPath(new URL('../../agents/', import.meta.url))

export type ShippedScript = { path: string; source: string }

/** Every tool script of the bundles that come with Remora. */
export async function shippedScripts(): Promise<ShippedScript[]> {
  const files = await readdir(agents, { recursive: true })
  const paths = files.filter((path) => path.endsWith('.pym')).toSorted()
  return Promise.all(paths.map(async (path) => ({ path, source: await readFile(join(agents, path), 'utf8') })))
}
