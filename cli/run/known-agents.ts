import { fileURLToPath } from 'node:url'
import { AppError } from '#domain/error.ts'

/** The folder of the bundles that come with the package. */
export const builtinAgents = fileURLToPath(new URL('../../agents', import.meta.url))

/** INTAKE_006 as the API would answer, before anything is started. */
export function requireKnown(agents: readonly string[], known: readonly string[]): void {
  const unknown = agents.filter((agent) => !known.includes(agent))
  if (unknown.length === 0) return
  throw new AppError('INTAKE_006', `unknown agent: ${unknown.join(', ')}; known: ${known.join(', ')}`)
}
