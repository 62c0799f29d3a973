import { randomUUID } from 'node:crypto'
import { lstat, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { Env } from '#platform/env.ts'
import { isOwnFolder, makeFolder } from '#platform/own-file.ts'
import { dataNotWritable, makeDataFolder } from '../stack/data-folder.ts'

export type KeyFiles = { privateKey: string; webhookSecret: string }

type KeyPlace = {
  /** Undefined: `github` in the data folder, which is closed to others and hidden from git. */
  folder: string | undefined
  dataDir: string
  force: boolean
  env: Env
}

/** Prepares the place before the app is made, since GitHub tells keys once. CONFIG_003 where others may write, or keys are there (`force`). */
export async function prepareKeyFiles({ folder, dataDir, force, env }: KeyPlace): Promise<KeyFiles> {
  if (folder === undefined) await makeDataFolder(dataDir, env)
  const path = folder ?? join(dataDir, 'github')
  await makeFolder(path, 0o700).catch((error: unknown) => {
    throw dataNotWritable(path, error)
  })
  if (!(await isOwnFolder(path))) {
    throw new AppError('CONFIG_003', `${path} is not yours alone: "chmod 700 ${path}", or name another with --folder`)
  }
  // Also where it is inside of a repository.
  if ((await readdir(path)).length === 0) await writeFile(join(path, '.gitignore'), '*\n')
  const files = { privateKey: join(path, 'private-key.pem'), webhookSecret: join(path, 'webhook-secret') }
  for (const file of Object.values(files)) {
    if (force || (await lstat(file).catch(() => undefined)) === undefined) continue
    throw new AppError(
      'CONFIG_003',
      `there is a key in ${file} already: --force replaces it, --folder names another place`,
    )
  }
  return files
}

/** Readable for this user alone. A file is replaced whole, or not at all. */
export async function writeKey(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`
  try {
    await writeFile(temporary, text.endsWith('\n') ? text : `${text}\n`, { mode: 0o600, flag: 'wx' })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw dataNotWritable(path, error)
  }
}
