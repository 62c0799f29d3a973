import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '#domain/error.ts'

/** The folder of the bundles that come with the package. */
export const builtinAgents = fileURLToPath(new URL('../../agents', import.meta.url))

/** Names of the bundles in a folder, sorted; none when there is no such folder. */
export async function agentNames(agentsDir: string): Promise<string[]> {
  const entries = await readdir(agentsDir, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isDirectory() && existsSync(join(agentsDir, entry.name, 'bundle.yaml')))
    .map((entry) => entry.name)
    .toSorted()
}

/** INTAKE_006 as the API would answer, before anything is started. */
export function requireKnown(agents: readonly string[], known: readonly string[]): void {
  const unknown = agents.filter((agent) => !known.includes(agent))
  if (unknown.length === 0) return
  throw new AppError('INTAKE_006', `unknown agent: ${unknown.join(', ')}; known: ${known.join(', ')}`)
}
