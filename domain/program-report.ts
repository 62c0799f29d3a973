import { z } from 'zod'

/** Tests are mostly run with these; nothing is known of others. */
export const soughtPrograms: readonly string[] =
  `python3 python pytest tox nox uv node npm npx yarn pnpm vitest jest mocha bun deno go cargo java mvn gradle make
  cmake ctest ruby bundle rake php dotnet`.split(/\s+/)

export const ProgramReport = z.object({
  /** Lists the `soughtPrograms` that its sandbox has, and `gofmt` where it finds one itself. */
  names: z.array(z.string()),
  lack: z.string().optional(),
})
export type ProgramReport = z.infer<typeof ProgramReport>

/** Joins what at least one of several workers has; undefined where one of them does not say it, or where there is none. */
export function joinedPrograms(reports: readonly (ProgramReport | undefined)[]): ProgramReport | undefined {
  const known = reports.filter((report) => report !== undefined)
  if (known.length === 0 || known.length < reports.length) return undefined
  const names = [...new Set(known.flatMap((report) => report.names))]
  const lacks = known.flatMap(({ lack }) => lack ?? [])
  return lacks.length < known.length ? { names } : { names, lack: lacks[0] ?? '' }
}
