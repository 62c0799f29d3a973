import { randomUUID } from 'node:crypto'
import { createWriteStream, type WriteStream } from 'node:fs'
import { rename, rm, stat, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#domain/error.ts'

/** CONFIG_003 unless a file can be written at `path`; leaves nothing behind. Called before any work is done. */
export async function requireWritable(path: string): Promise<void> {
  const existing = await stat(path).catch(() => undefined)
  if (existing?.isDirectory() === true) throw new AppError('CONFIG_003', `${path} is a folder, not a file to write`)
  const probe = temporaryBeside(path)
  try {
    await writeFile(probe, '')
    await rm(probe)
  } catch (error) {
    throw notWritable(path, error)
  }
}

/** Writes the whole of `content` or nothing: it is renamed into place when it is complete. */
export async function writeWhole(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const temporary = temporaryBeside(path)
  try {
    await pipeline(content, createWriteStream(temporary, { flags: 'wx' }))
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error instanceof AppError ? error : notWritable(path, error)
  }
}

export type LineFile = { add(line: string): void; close(): Promise<void> }

/** A file that grows line by line, written anew. CONFIG_003 when it cannot be opened. */
export async function openLineFile(path: string): Promise<LineFile> {
  const file = createWriteStream(path)
  try {
    await once(file, 'open')
  } catch (error) {
    throw notWritable(path, error)
  }
  return { add: (line) => void file.write(`${line}\n`), close: () => end(file) }
}

async function end(file: WriteStream): Promise<void> {
  const closed = once(file, 'close')
  file.end()
  await closed
}

function temporaryBeside(path: string): string {
  return resolve(dirname(path), `.remora-${randomUUID()}.part`)
}

function notWritable(path: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new AppError('CONFIG_003', `${path} is not writable: ${reason}`, { cause })
}
