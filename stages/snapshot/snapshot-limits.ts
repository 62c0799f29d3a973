import { AppError } from '#domain/error.ts'

/** Limits what one uploaded archive may hold; anything over a limit is INTAKE_003. */
export type SnapshotLimits = {
  maxEntries: number
  /** Files, links and folders, including those without an entry: a few files can have any number of folders above them. */
  maxPaths: number
  /** Limits all paths together, which stay in memory. */
  maxNameBytes: number
  /** Limits the unpacked archive, headers included. */
  maxBytes: number
  /** One file is held in memory at a time. */
  maxFileBytes: number
  /** Unpacked bytes per packed byte, checked once `ratioFromBytes` are unpacked. */
  maxRatio: number
  ratioFromBytes: number
  maxPathBytes: number
  maxDepth: number
}

export function tooMany(what: string, limit: number): AppError {
  return new AppError('INTAKE_003', `the archive has more than ${limit} ${what}`)
}

export const defaultSnapshotLimits: SnapshotLimits = {
  maxEntries: 200_000,
  maxPaths: 250_000,
  maxNameBytes: 32 * 1024 ** 2,
  maxBytes: 2 * 1024 ** 3,
  maxFileBytes: 64 * 1024 ** 2,
  maxRatio: 200,
  ratioFromBytes: 10_000_000,
  maxPathBytes: 1024,
  maxDepth: 64,
}
