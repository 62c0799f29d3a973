import { fileURLToPath } from 'node:url'
import { AppError } from '#domain/error.ts'
import { nearest } from '#platform/nearest.ts'

/** The folder of the bundles that come with the package. */
export const builtinAgents = fileURLToPath(new URL('../../agents', import.meta.url))

/** The one bundle whose prompt fits the harness's own tools. */
export const harnessAgent = 'harness'

/** INTAKE_006 as the API would answer, as wrong usage, before anything is started. */
export function requireKnown(agents: readonly string[], known: readonly string[]): void {
  const unknown = agents.filter((agent) => !known.includes(agent))
  if (unknown.length === 0) return
  const near = unknown.flatMap((agent) => nearest(agent, known) ?? [])
  const meant = near.length === 0 ? '' : ` (did you mean ${near.join(', ')}?)`
  throw new AppError(
    'INTAKE_006',
    `unknown agent: ${unknown.join(', ')}${meant}; known: ${known.join(', ')} (agents.dir of remora.yaml names another folder)`,
    { phase: 'usage' },
  )
}
