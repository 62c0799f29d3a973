import { AppError } from '#domain/error.ts'
import type { Violation } from '#ledger/violation.ts'

/** What is found wrong with a run's objects (invariant 7), noted as it is found. */
export type Findings = {
  violations: readonly Violation[]
  blame(message: string): void
  /**
   * What was read; undefined, and a finding, when an object is missing or not what its name says, which is told once
   * however many refer to it. A store that is away proves nothing and is thrown on.
   */
  read<T>(what: string, reading: Promise<T>): Promise<T | undefined>
}

/** Findings with nothing found yet. */
export function openFindings(): Findings {
  const violations: Violation[] = []
  const told = new Set<string>()
  const blame = (message: string) => void violations.push({ invariant: 7, message })
  return {
    violations,
    blame,
    async read(what, reading) {
      try {
        return await reading
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'STORE_003') throw error
        if (!told.has(error.message)) blame(`${what}: ${error.message}`)
        told.add(error.message)
        return undefined
      }
    },
  }
}
