import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = new URL('../frameworks/', import.meta.url)

/** Installs the frameworks as their lock says, once; throws when npm fails. No install script of theirs is run. */
export function installFrameworks(): void {
  // npm writes this file last: an install that was interrupted is made anew.
  if (existsSync(new URL('node_modules/.package-lock.json', folder))) return
  console.log('installing the frameworks (about 160 MB)')
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--prefix', fileURLToPath(folder)], {
    cwd: folder,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('npm could not install bench/frameworks')
}
