import type { CliConfig } from '../config.ts'
import { misnamedSettings } from '../misnamed-settings.ts'
import { fine, type Finding } from './finding.ts'

/** The settings file and the environment: without a fault in them, which every other command ends with. */
export function examineSettings({ settings }: CliConfig, cwd: string): Finding {
  const { path, fault } = settings
  const misnamed = fault === undefined && path === undefined ? misnamedSettings(cwd) : undefined
  if (misnamed !== undefined) {
    const found = `${misnamed} is not read`
    return { name: 'settings', state: 'warning', needed: true, found, advice: 'name it remora.yaml' }
  }
  if (fault === undefined) return fine('settings', path ?? 'no remora.yaml here or above: defaults and the environment')
  const advice = 'docs/reference/config.md has every key and variable'
  return { name: 'settings', state: 'missing', needed: true, found: `${fault.code} ${fault.message}`, advice }
}
