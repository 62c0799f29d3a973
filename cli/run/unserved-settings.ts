import type { Settings } from '#settings/load-settings.ts'
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
