import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** A file's text, or in one line why there is none. */
export type ReadSource = { source: string } | { fault: string; isMissing: boolean }

const missing = 'there is no such file'
const faults: Readonly<Record<string, string>> = {
  ENOENT: missing,
  ENOTDIR: missing,
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
    if (stats.isDirectory()) return failed('it is a folder')
    if (!stats.isFile()) return failed('it is no file')
    return decoded(await file.readFile())
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return failed(faults[code] ?? `it cannot be read: ${code || String(error)}`)
  }
}

function decoded(bytes: Uint8Array): ReadSource {
  try {
    return { source: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return failed('it is not UTF-8 text')
  }
}

function failed(fault: string): ReadSource {
  return { fault, isMissing: fault === missing }
}
