import type { ParsedTarEntry } from 'modern-tar'
import { AppError, asAppError } from '#domain/error.ts'

export type EntryType = NonNullable<ParsedTarEntry['header']['type']>

/** One entry as the archive has it: nothing about its name or target has been checked. */
export type ArchiveEntry = {
  type: EntryType
  name: string
  /** Of the content; 0 for everything but files. */
  size: number
  executable: boolean
  /** Where a link leads; '' for what is no link. */
  target: string
  /** The whole content. To be called before the next entry is asked for, or not at all. */
  read(): Promise<Uint8Array>
}

const ownerMayExecute = 0o100

export function isExecutable(mode: number): boolean {
  return (mode & ownerMayExecute) !== 0
}

/** What a library says of a damaged archive, as INTAKE_001. What is ours already, the store's errors too, stays as it is. */
export function unreadable(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { message } = asAppError(error, 'INTAKE_001')
  return new AppError('INTAKE_001', `the archive cannot be read: ${message}`, { cause: error })
}
