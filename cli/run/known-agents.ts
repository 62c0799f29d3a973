import { join } from 'node:path'
import type { Command } from 'commander'
import { AppError } from '#domain/error.ts'
import { nearest } from '#platform/nearest.ts'
import { agentFolders, agentNames, readSource } from '#bundles/bundle-files.ts'
import { readBundleYaml } from '#bundles/bundle-yaml.ts'

/** The only bundle whose prompt fits the harness's own tools. */
export const harnessAgent = 'harness'

/** INTAKE_006, as from the API, but as wrong usage and before anything is started. */
export function requireKnown(agents: readonly string[], known: readonly string[]): void {
  const unknown = agents.filter((agent) => !known.includes(agent))
  if (unknown.length === 0) return
  const near = unknown.flatMap((agent) => nearest(agent, known) ?? [])
  const meant = near.length === 0 ? '' : ` (did you mean ${near.join(', ')}?)`
  throw new AppError(
    'INTAKE_006',
    `unknown agent: ${unknown.join(', ')}${meant}; known: ${known.join(', ')} (agents.dir in remora.yaml names a folder of your own)`,
    { phase: 'usage' },
  )
}

/** The agents of `--agents` and those of this installation. Without `--agents` it is wrong usage, and the message lists them. */
export async function namedAgents(
  agents: readonly string[] | undefined,
  agentsDir: string | undefined,
  command: Command,
) {
  const known = await agentNames(agentsDir)
  if (agents === undefined || agents.length === 0) {
    command.error(`error: no agents named: choose with --agents from ${known.join(', ')}`, { exitCode: 2 })
  }
  return { agents, known }
}

/** Whether one of the agents runs programs; `agents`: undefined for all. A bundle that cannot be read is reported elsewhere. */
export async function runsPrograms(
  agentsDir: string | undefined,
  agents: readonly string[] | undefined,
): Promise<boolean> {
  const folders = await agentFolders(agentsDir).catch(() => new Map<string, string>())
  const named = [...folders].filter(([name]) => agents?.includes(name) ?? true)
  const runs = await Promise.all(
    named.map(async ([, folder]) => {
      const path = join(folder, 'bundle.yaml')
      const read = await readSource(path)
      return 'source' in read && readBundleYaml(path, read.source).file?.programs !== undefined
    }),
  )
  return runs.includes(true)
}
