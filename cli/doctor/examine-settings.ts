import type { CliConfig } from '../config.ts'
import { fine, type Finding } from './finding.ts'

/** The settings file and the environment: without a fault in them, which every other command ends with. */
export function examineSettings({ settings }: CliConfig): Finding {
  const { path, fault } = settings
  if (fault === undefined) return fine('settings', path ?? 'no remora.yaml here or above: defaults and the environment')
  const advice = 'docs/reference/config.md has every key and variable'
  return { name: 'settings', state: 'missing', needed: true, found: `${fault.code} ${fault.message}`, advice }
}
