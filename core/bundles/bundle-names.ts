import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { asAppError } from '#domain/error.ts'

/**
 * Names of the bundles in `dir`, sorted: its folders that hold a `bundle.yaml`. CONFIG_001 when there is no such
 * folder.
 */
export async function bundleNames(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: unknown) => {
    throw asAppError(error, 'CONFIG_001')
  })
  return entries
    .filter((entry) => entry.isDirectory() && existsSync(join(dir, entry.name, 'bundle.yaml')))
    .map((entry) => entry.name)
    .toSorted()
}
