import { freemem, totalmem } from 'node:os'
import { access, constants, readFile, stat, statfs } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { dirname } from 'node:path'
import { z } from 'zod'
import { misnamedSettings } from '#settings/read-settings-file.ts'
import { dataVersion, readDataVersion } from '../stack/data-folder.ts'
import { settingsFaults } from '../run/known-agents.ts'
import { findRunningStack } from '../stack/running-stack.ts'
import { type Diagnosis, doubtful, fine, missing } from './diagnosis.ts'
import type { CliConfig } from '../cli-config.ts'

/** Examines the settings file and the environment. A fault in them ends every other command. */
export function examineSettings({ settings }: CliConfig, cwd: string): Diagnosis {
  const { path, fault } = settings
  const misnamed = fault === undefined && path === undefined ? misnamedSettings(cwd) : undefined
  if (misnamed !== undefined) return doubtful('settings', `${misnamed} is not read`, 'name it remora.yaml')
  if (fault === undefined) return fine('settings', path ?? 'no remora.yaml here or above: defaults and the environment')
  return missing('settings', `${fault.code} ${fault.message}`, 'docs/reference/config.md has every key and variable')
}

export async function examineRunSettings(config: CliConfig): Promise<Diagnosis[]> {
  const faults = await settingsFaults(config)
  const advice = 'every run is refused until this is settled'
  return faults.map(({ code, message }) => missing('settings', `${code} ${message}`, advice))
}

const gibibyte = 1024 ** 3
const leastDisk = 64 * 1024 ** 2
const Package = z.object({ version: z.string() })
/** Packages beside the bundle of the npm package; the others are in it, and known by its version. */
const libraries = ['@pydantic/monty', 'oxlint', 'web-tree-sitter']

/** Names the Node this command runs on, which is the package's own unless the one that started it is as new. */
export function examineNode(): Diagnosis {
  const own = process.execPath.includes('node_modules') ? "the package's own" : 'the one of the system'
  return fine('node', `${process.versions.node}, ${own}, at ${process.execPath}`)
}

export async function examineDisk(dataDir: string): Promise<Diagnosis> {
  const folder = await existingFolder(dataDir)
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const left = `${inGibibytes(free)} free in ${folder}`
  if (free >= gibibyte) return fine('disk', left)
  const judged = free < leastDisk ? missing : doubtful
  return judged('disk', left, 'free some space, or name another folder in REMORA_DATA_DIR')
}

export function examineMemory(): Diagnosis {
  const left = `${inGibibytes(freemem())} of ${inGibibytes(totalmem())} free`
  return freemem() >= gibibyte ? fine('memory', left) : doubtful('memory', left, 'use fewer workers: --workers 1')
}

/** Says whether a stack can keep its data in `dataDir`, and whether this version can read the data there. Creates nothing. */
export async function examineData(dataDir: string): Promise<Diagnosis> {
  const folder = await existingFolder(dataDir)
  const writable = await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
  const elsewhere = 'name another folder in REMORA_DATA_DIR'
  if (!writable) return missing('data', `${folder} is not writable`, `make it writable, or ${elsewhere}`)
  if (folder !== dataDir) return fine('data', `${dataDir}, made at the first run`)
  const version = readDataVersion(dataDir) ?? dataVersion
  if (version === dataVersion) return fine('data', `${dataDir}, version ${version}`)
  const unknown = `${dataDir} has data of version ${version}, this Remora knows ${dataVersion}`
  return missing('data', unknown, `use the newer Remora that wrote them, or ${elsewhere}`)
}

export async function examineStack(dataDir: string): Promise<Diagnosis> {
  const running = await findRunningStack(dataDir)
  return fine('stack', running === undefined ? 'no services run in the data folder' : `runs at ${running.url}`)
}

export async function examineVersions(version: string): Promise<Diagnosis> {
  const versions = await Promise.all(libraries.map(async (name) => `${name} ${await versionOf(name)}`))
  return fine('versions', [`remora ${version}`, ...versions].join(', '))
}

async function versionOf(name: string): Promise<string> {
  const path = findPackageJSON(name, import.meta.url)
  if (path === undefined) return 'missing'
  return Package.parse(JSON.parse(await readFile(path, 'utf8'))).version
}

async function existingFolder(path: string): Promise<string> {
  const stats = await stat(path).catch(() => undefined)
  return stats === undefined && dirname(path) !== path ? existingFolder(dirname(path)) : path
}

function inGibibytes(bytes: number): string {
  return `${(bytes / gibibyte).toFixed(1)} GiB`
}
