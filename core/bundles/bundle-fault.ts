import { AppError } from '#domain/error.ts'

/**
 * Something wrong with a bundle, where a person fixes it. Line and column are 1-based; `code` is a Grail rule or
 * AGENT_001.
 */
export type BundleFault = { file: string; line: number; column: number; code: string; message: string }

/** Something that works but should not stay. */
export type BundleWarning = BundleFault

/** AGENT_001 that names every fault, one a line. */
export function bundleInvalid(faults: readonly BundleFault[]): AppError {
  const lines = faults.map((fault) => `${fault.file}:${fault.line}:${fault.column} ${fault.message}`)
  return new AppError('AGENT_001', lines.join('\n'), { phase: 'grail_check' })
}
