import { readFileSync } from 'node:fs'

/** Does without zod, which takes as long to load as the rest of what `remora --help` needs. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return isManifest ? String(manifest.version) : ''
}
