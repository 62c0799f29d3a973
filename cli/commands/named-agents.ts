import type { Command } from 'commander'
import { bundleNames } from '#bundles/bundle-names.ts'

/** The agents of `--agents`, and those of this installation, which wrong usage names when there are none. */
export async function namedAgents(agents: readonly string[] | undefined, agentsDir: string, command: Command) {
  const known = await bundleNames(agentsDir)
  if (agents === undefined || agents.length === 0) {
    command.error(`error: no agents named: choose with --agents from ${known.join(', ')}`, { exitCode: 2 })
  }
  return { agents, known }
}
