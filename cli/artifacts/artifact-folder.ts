import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { requireWritable, writeWhole } from '../run/output-file.ts'

/** Makes the folder of all artifacts. CONFIG_003, before any work, when it is none or cannot be written. */
export async function requireArtifactFolder(dir: string): Promise<void> {
  const stats = await stat(dir).catch(() => undefined)
  if (stats?.isDirectory() === false) throw new AppError('CONFIG_003', `--artifacts: ${dir} is a file, not a folder`)
  await makeFolder(dir)
  await requireWritable(join(dir, 'check.json'))
}

/**
 * Writes one script's artifacts, each file whole or not at all, and removes those of `names` it has none of any more.
 * CONFIG_003 when one cannot be written.
 */
export async function writeArtifacts(
  folder: string,
  artifacts: ReadonlyMap<string, string>,
  names: readonly string[] = [],
): Promise<void> {
  await makeFolder(folder)
  for (const name of names) if (!artifacts.has(name)) await rm(join(folder, name), { force: true })
  for (const [name, text] of artifacts) await writeWhole(join(folder, name), [text])
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((cause: unknown) => {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    throw new AppError('CONFIG_003', `--artifacts: the folder ${folder} cannot be made: ${code}`, { cause })
  })
}
