import { basename, relative, resolve, sep } from 'node:path'
import type { CheckedScript } from '#bundles/check-script-file.ts'
import { sha256 } from '#domain/hash.ts'

/** A name that is one folder on every file system, whatever it does with the case of letters. */
const plain = /^[a-z0-9_][a-z0-9_-]{0,63}$/
const noBundle = '_'

/**
 * The folder of a script's artifacts, relative to that of all: its bundle and the tool it is the script of, of which
 * there is one. A lone script goes by its path from `cwd`: by its name where that says it all, else with a hash of it.
 */
export function artifactPlace({ file, owner }: Pick<CheckedScript, 'file' | 'owner'>, cwd: string): string {
  if (owner !== undefined) return `${owner.bundle}/${owner.tool}`
  const path = relative(cwd, resolve(cwd, file)).split(sep).join('/')
  const name = path.replace(/\.pym$/, '')
  if (plain.test(name)) return `${noBundle}/${name}`
  const start = basename(name)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '_')
    .slice(0, 40)
  return `${noBundle}/${start}.${sha256(path).slice(0, 12)}`
}
