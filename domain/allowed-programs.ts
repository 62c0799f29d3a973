import type { BundleFile } from './agent-bundle.ts'

/** Returns the programs that the scripts of a bundle may start: what users have set, else those of the bundle. */
export function allowedPrograms({ programs = [], settings }: Pick<BundleFile, 'programs' | 'settings'>): string[] {
  const chosen = settings['programs']?.default
  return typeof chosen === 'string' ? chosen.split(/\s+/).filter((word) => word !== '') : programs
}
