import type { Command } from 'commander'
import { bundleNames } from '#bundles/bundle-names.ts'
import { builtinAgents } from '../run/known-agents.ts'

/** The names of the agents of this installation, sorted. */
export function installedAgents(): Promise<string[]> {
  return bundleNames(builtinAgents)
}

/** The agents of `--agents`, and those of this installation, which wrong usage names when there are none. */
export async function namedAgents(agents: readonly string[] | undefined, command: Command) {
  const known = await installedAgents()
  if (agents === undefined || agents.length === 0) {
    command.error(`error: no agents named: choose with --agents from ${known.join(', ')}`, { exitCode: 2 })
  }
  return { agents, known }
}
