import { join } from 'node:path'
import type { Command } from 'commander'
import type { BundleFile } from '#domain/agent-bundle.ts'
import { AppError, hasCode } from '#domain/error.ts'
import { choicesInvalid, findChoiceFaults } from '#bundles/adjust-bundles.ts'
import { placeOfSetting } from '#settings/load-settings.ts'
import { agentFolders, agentNames, readSource, unknownAgents } from '#bundles/bundle-files.ts'
import { readBundleYaml } from '#bundles/bundle-yaml.ts'
import type { CliConfig } from '../cli-config.ts'
import { loadFindableNodes, requireKnownFilters } from '../discover/local-discovery.ts'

/** Throws INTAKE_006, as the API does, but as wrong usage and before anything is started. */
export function requireKnown(agents: readonly string[], known: readonly string[]): void {
  const fault = unknownAgents(agents, known)
  if (fault === undefined) return
  throw new AppError('INTAKE_006', `${fault} (agents.dir in remora.yaml names a folder of your own)`, {
    phase: 'usage',
  })
}

/** Returns the agents of this installation. CONFIG_001, with the setting that names it, when their folder cannot be read. */
export async function agentsHere({
  agentsDir,
  settings,
}: Pick<CliConfig, 'agentsDir' | 'settings'>): Promise<string[]> {
  try {
    return await agentNames(agentsDir)
  } catch (cause) {
    if (!hasCode(cause, 'CONFIG_001')) throw cause
    const setting = placeOfSetting(settings, settings.own, ['agents', 'dir'])
    throw new AppError(cause.code, `${setting}${cause.message}`, { cause })
  }
}

type Choosing = Pick<CliConfig, 'agentsDir' | 'bundles' | 'queries' | 'settings'>

/** Throws what discovery would refuse of `agents.mapping` and `agents.settings`, with the places: CONFIG_003 or CONFIG_004. */
export async function requireBundleChoices({ agentsDir, bundles, queries, settings }: Choosing): Promise<void> {
  const chosen = Object.values(bundles.mapping)
  if (chosen.length + Object.keys(bundles.settings).length === 0) return
  const files = await bundleFiles(agentsDir)
  const findable = chosen.some(({ node_kinds: kinds }) => kinds !== undefined) ? await loadFindableNodes(queries) : {}
  const faults = findChoiceFaults(files, bundles, findable)
  if (faults.length > 0) throw choicesInvalid(faults, (at) => placeOfSetting(settings, settings.own, at))
}

/** Undefined for one that cannot be read. */
async function bundleFiles(agentsDir: string | undefined): Promise<Map<string, BundleFile | undefined>> {
  const folders = [...(await agentFolders(agentsDir))]
  const read = folders.map(async ([name, folder]) => {
    const path = join(folder, 'bundle.yaml')
    const text = await readSource(path)
    return [name, 'source' in text ? readBundleYaml(path, text.source).file : undefined] as const
  })
  return new Map(await Promise.all(read))
}

/** Returns what every run refuses of the settings: CONFIG_001 for the agents, DISC_003 for languages. */
export async function settingsFaults(config: CliConfig): Promise<AppError[]> {
  const refused = async (work: Promise<unknown>) =>
    work.then(
      () => [],
      (error: unknown) => {
        if (error instanceof AppError) return [error]
        throw error
      },
    )
  const { request, apiUrl, queries } = config
  const folder = await refused(agentsHere(config))
  // A remote service may know others.
  if (apiUrl !== undefined) return folder
  const choices = folder.length === 0 ? await refused(requireBundleChoices(config)) : []
  return [...folder, ...choices, ...(await refused(requireKnownFilters(request, { queries })))]
}

/**
 * Returns the agents of `--agents`, undefined for none, and those of this installation. Without `--agents` and an objective it is wrong
 * usage, and the message lists them.
 */
export async function namedAgents(
  { agents, objective }: { agents?: string[] | undefined; objective?: string | undefined },
  config: Pick<CliConfig, 'agentsDir' | 'settings'>,
  command: Command,
) {
  const known = await agentsHere(config)
  const isNamed = agents !== undefined && agents.length > 0
  if (!isNamed && objective === undefined) {
    const choice = `choose with --agents from ${known.join(', ')} (or say with --objective what is to be reached)`
    command.error(`error: no agents named: ${choice}`, { exitCode: 2 })
  }
  return { agents: isNamed ? agents : undefined, known }
}

/** Is true when one of the agents runs programs; `agents` is undefined for all. A bundle that cannot be read is reported elsewhere. */
export async function runsPrograms(
  agentsDir: string | undefined,
  agents: readonly string[] | undefined,
): Promise<boolean> {
  const files = await bundleFiles(agentsDir).catch(() => new Map<string, BundleFile | undefined>())
  return [...files].some(([name, file]) => (agents?.includes(name) ?? true) && file?.programs !== undefined)
}
