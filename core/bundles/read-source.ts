import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** A file's text, or in one line why there is none. */
export type ReadSource = { source: string } | { fault: string }

const faults: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'it cannot be read: permission denied',
  EPERM: 'it cannot be read: permission denied',
  ELOOP: 'it is a link to itself',
}

/** Reads a file that should hold UTF-8 text. Never throws, and does not wait for a pipe to be written to. */
export async function readSource(path: string): Promise<ReadSource> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = await file.stat()
    if (stats.isDirectory()) return { fault: 'it is a folder' }
    if (!stats.isFile()) return { fault: 'it is no file' }
    return decoded(await file.readFile())
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return { fault: faults[code] ?? `it cannot be read: ${code || String(error)}` }
  }
}

function decoded(bytes: Uint8Array): ReadSource {
  try {
    return { source: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return { fault: 'it is not UTF-8 text' }
  }
}
