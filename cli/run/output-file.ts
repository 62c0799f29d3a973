import { randomUUID } from 'node:crypto'
import { createWriteStream, type WriteStream } from 'node:fs'
import { open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { basename, dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#domain/error.ts'

/** The error codes of a system when nothing can be written in a folder that exists; /proc uses ENOENT. */
const refusals = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT'])

/** Throws CONFIG_003 unless a file can be written at `path`; leaves nothing behind. Called before any work is done. */
export async function requireWritable(path: string): Promise<void> {
  if (basename(path) === '-')
    throw new AppError('CONFIG_003', '"-" is no file to write: "remora diff RUN" prints a patch')
  const existing = await stat(path).catch(() => undefined)
  if (existing?.isDirectory() === true) throw new AppError('CONFIG_003', `${path} is a folder, not a file to write`)
  const probe = temporaryBeside(path)
  try {
    await writeFile(probe, '')
    await rm(probe)
  } catch (error) {
    throw await notWritable(path, error)
  }
}

/** Writes the whole of `content` or nothing, with `mode` whatever the umask. CONFIG_003 when the file cannot be written. */
export async function writeWhole(
  path: string,
  content: AsyncIterable<Uint8Array> | Iterable<string | Uint8Array>,
  { mode }: { mode?: number } = {},
): Promise<void> {
  const temporary = temporaryBeside(path)
  try {
    // Opened here: a stream that opens the file itself might create it after a failed content has led to its removal.
    const file = await open(temporary, 'wx')
    if (mode !== undefined) await file.chmod(mode)
    await pipeline(content, file.createWriteStream())
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error instanceof AppError ? error : await notWritable(path, error)
  }
}

export type LineFile = { add(line: string): void; close(): Promise<void> }

/** Opens a new file that grows line by line. CONFIG_003 when it cannot be opened or, at a later line, written. */
export async function openLineFile(path: string): Promise<LineFile> {
  const file = createWriteStream(path)
  try {
    await once(file, 'open')
  } catch (error) {
    throw await notWritable(path, error)
  }
  let failure: Error | undefined
  file.on('error', (error) => (failure = error))
  return {
    add(line) {
      if (failure !== undefined) throw new AppError('CONFIG_003', `${path} cannot be written: ${failure.message}`)
      file.write(`${line}\n`)
    },
    close: () => endFile(file),
  }
}

/** Ends a stream, which may be closed already, and waits until its file is closed. */
export async function endFile(file: WriteStream): Promise<void> {
  if (file.closed) return
  const closed = once(file, 'close')
  file.end()
  await closed
}

function temporaryBeside(path: string): string {
  return resolve(dirname(path), `.remora-${randomUUID()}.part`)
}

async function notWritable(path: string, cause: unknown): Promise<AppError> {
  return new AppError('CONFIG_003', `${path} cannot be written: ${await reasonOf(path, cause)}`, { cause })
}

/** Names the file or folder that the caller named, not the temporary file. */
async function reasonOf(path: string, cause: unknown): Promise<string> {
  const folder = dirname(path)
  const stats = await stat(folder).catch(() => undefined)
  if (stats === undefined) return `folder ${folder} does not exist`
  if (!stats.isDirectory()) return `${folder} is not a folder`
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  if (!refusals.has(code)) return code
  const existing = await stat(path).catch(() => undefined)
  return existing !== undefined ? `it or folder ${folder} is not writable` : `folder ${folder} is not writable`
}
