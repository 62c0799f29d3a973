import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { AppError } from '#domain/error.ts'

const fileName = 'remora.yaml'

/**
 * The settings file: the named one (CONFIG_001 when it is not there), else the nearest `remora.yaml` from `cwd` upwards,
 * else undefined; named `none`, there is none. One that another user put there decides where sources are sent: it counts only when it is named
 * (CONFIG_003).
 */
export function findSettingsFile(cwd: string, named: string | undefined): string | undefined {
  if (named === 'none') return undefined
  if (named !== undefined && named !== '') return namedFile(resolve(cwd, named))
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const path = join(dir, fileName)
    const owner = ownerOf(path)
    if (owner !== undefined) return ownFile(path, owner)
    if (dirname(dir) === dir) return undefined
  }
}

function namedFile(path: string): string {
  if (ownerOf(path) !== undefined) return path
  throw new AppError('CONFIG_001', `there is no settings file ${path}`)
}

function ownFile(path: string, owner: number): string {
  const user = process.getuid?.()
  if (user === undefined || owner === user || owner === 0) return path
  const wayOn = 'name it with --config or REMORA_CONFIG to use it'
  throw new AppError('CONFIG_003', `${path} belongs to another user: ${wayOn}`)
}

/** The user id a file belongs to; undefined for what is no file. */
function ownerOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true ? found.uid : undefined
}
