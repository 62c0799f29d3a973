import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'

/** CONFIG_001 that says where the folder's name may have come from. */
export function noAgentsFolder(dir: string, cause: unknown): AppError {
  const where = 'agents.dir of remora.yaml or REMORA_AGENTS_DIR names it, else it comes with Remora'
  return new AppError('CONFIG_001', `the folder of the agents, ${dir}, cannot be read: ${where}`, { cause })
}

/**
 * Names of the bundles in `dir`, sorted: its folders that hold a `bundle.yaml`. CONFIG_001 when there is no such
 * folder.
 */
export async function bundleNames(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: unknown) => {
    throw noAgentsFolder(dir, error)
  })
  return entries
    .filter((entry) => entry.isDirectory() && existsSync(join(dir, entry.name, 'bundle.yaml')))
    .map((entry) => entry.name)
    .toSorted()
}
