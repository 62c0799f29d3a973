import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)

/**
 * Returns the path of a package's file, `NAME/PATH`. The npm package of Remora has its own copies of the files that its code
 * reads by path, since it does not depend on their packages (scripts/build-package.ts).
 */
export function packageFile(name: string): string {
  const own = fileURLToPath(new URL(`../packages/${name}`, import.meta.url))
  return existsSync(own) ? own : require.resolve(name)
}
