import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { AppError } from '#domain/error.ts'
import { readOwnFile } from '#platform/own-file.ts'

const fileName = 'remora.yaml'
const wayOut = 'name it with --config or REMORA_CONFIG to use it, or set REMORA_CONFIG=none to go without'
const maxBytes = 1024 ** 2

/** `isNamed`: somebody chose this file; one that was found may have come with the sources. */
export type FoundFile = { path: string; text: string; isNamed: boolean }

/**
 * The settings file: the named one (CONFIG_001 when it cannot be read), else the nearest `remora.yaml` from `cwd` upwards,
 * else undefined; named `none`, there is none. It decides where sources are sent: a link, and a file that others own or
 * may write (see `othersMayWrite` for what a group may), counts only when it is named (CONFIG_003). What is no file, such
 * as a pipe, is passed over.
 */
export function findSettingsFile(cwd: string, named: string | undefined): FoundFile | undefined {
  if (named === 'none') return undefined
  if (named !== undefined && named !== '') return namedFile(resolve(cwd, named))
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const path = join(dir, fileName)
    const text = foundText(path)
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

function foundText(path: string): string | undefined {
  const file = readOwnFile(path, { maxBytes, orOfRoot: true })
  if (file.kind === 'refused') throw notOurs(path, file.why)
  return file.kind === 'text' ? file.text : undefined
}

function notOurs(path: string, why: string): AppError {
  return new AppError('CONFIG_003', `${path} ${why}: ${wayOut}`)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
