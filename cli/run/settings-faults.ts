import { bundleNames } from '#bundles/bundle-files.ts'
import { AppError } from '#domain/error.ts'
import type { Settings } from '#settings/load-settings.ts'
import type { CliConfig } from '../cli-config.ts'
import { requireKnownFilters } from '../discover/local-discovery.ts'
import { shownPath } from '../wording.ts'

/** A line for each value of the settings file that nothing reads. */
export function unservedSettings({ path, given }: Pick<Settings, 'path' | 'given'>, cwd: string): string[] {
  if (path === undefined) return []
  return given.flatMap(({ setting, line }) =>
    setting.unserved === undefined
      ? []
      : [`${shownPath(path, cwd)}:${line}: ${setting.path.join('.')} has no effect: ${setting.unserved}`],
  )
}

/** What every run refuses of the settings: the folder of the agents (CONFIG_001), and languages (DISC_003). */
export async function settingsFaults({ agentsDir, request, apiUrl, queries }: CliConfig): Promise<AppError[]> {
  const refused = async (work: Promise<unknown>) =>
    work.then(
      () => [],
      (error: unknown) => {
        if (error instanceof AppError) return [error]
        throw error
      },
    )
  const folder = await refused(bundleNames(agentsDir))
  // A remote service may know others.
  const languages = apiUrl === undefined ? await refused(requireKnownFilters(request, { queries })) : []
  return [...folder, ...languages]
}
