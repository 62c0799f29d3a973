import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type ScratchFolder = AsyncDisposable & { path: string }

/** Makes a folder for this process alone. `name` begins its name; disposing of it removes it with all that is in it. */
export async function openScratchFolder(name: string): Promise<ScratchFolder> {
  const path = await mkdtemp(join(tmpdir(), name))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
