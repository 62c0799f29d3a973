import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { AppError } from '#domain/error.ts'

const fileName = 'remora.yaml'
const byName = 'name it with --config or REMORA_CONFIG to use it'
const othersMayWrite = 0o002

/** `isNamed`: somebody chose this file; one that was found may have come with the sources. */
export type FoundFile = { path: string; text: string; isNamed: boolean }

/**
 * The settings file: the named one (CONFIG_001 when it cannot be read), else the nearest `remora.yaml` from `cwd` upwards,
 * else undefined; named `none`, there is none. It decides where sources are sent: a link, and a file that others own or
 * may write, counts only when it is named (CONFIG_003).
 */
export function findSettingsFile(cwd: string, named: string | undefined): FoundFile | undefined {
  if (named === 'none') return undefined
  if (named !== undefined && named !== '') return namedFile(resolve(cwd, named))
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const path = join(dir, fileName)
    const text = ownText(path)
    if (text !== undefined) return { path, text, isNamed: false }
    if (dirname(dir) === dir) return undefined
  }
}

function namedFile(path: string): FoundFile {
  try {
    return { path, text: readFileSync(path, 'utf8'), isNamed: true }
  } catch (cause) {
    throw new AppError('CONFIG_001', `the settings file ${path} cannot be read (${codeOf(cause)})`, { cause })
  }
}

/** Judged and read through one descriptor: what is judged is what is read. Undefined: there is none to be seen. */
function ownText(path: string): string | undefined {
  const opened = openOwn(path)
  if (opened === undefined) return undefined
  try {
    const { uid, mode } = fstatSync(opened)
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) return undefined
    const user = process.getuid?.()
    if (user !== undefined && uid !== user && uid !== 0) throw notOurs(path, 'belongs to another user')
    if ((mode & othersMayWrite) !== 0) throw notOurs(path, 'may be written by anyone')
    return readFileSync(opened, 'utf8')
  } finally {
    closeSync(opened)
  }
}

function openOwn(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (codeOf(error) === 'ELOOP') throw notOurs(path, 'is a link')
    return undefined // not there, or in a folder that is not for us
  }
}

function notOurs(path: string, what: string): AppError {
  return new AppError('CONFIG_003', `${path} ${what}: ${byName}`)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
