import { readFileSync } from 'node:fs'
import { z } from 'zod'

const PackageFile = z.object({ version: z.string() })

export function packageVersion(): string {
  return PackageFile.parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))).version
}
