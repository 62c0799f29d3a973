import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** The nearest `remora.yml` from `cwd` upwards, which is not read: settings are in `remora.yaml`. Undefined for none. */
export function misnamedSettings(cwd: string): string | undefined {
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const path = join(dir, 'remora.yml')
    if (existsSync(path)) return path
    if (existsSync(join(dir, 'remora.yaml')) || dirname(dir) === dir) return undefined
  }
}
