import { freemem, totalmem } from 'node:os'
import { access, constants, readFile, stat, statfs } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { dirname } from 'node:path'
import { z } from 'zod'
import { misnamedSettings } from '#settings/read-settings-file.ts'
import { dataVersion, readDataVersion } from '../stack/data-folder.ts'
import { settingsFaults } from '../run/known-agents.ts'
import { findRunningStack } from '../stack/running-stack.ts'
import { type Diagnosis, fine } from './diagnosis.ts'
import type { CliConfig } from '../cli-config.ts'

/** The settings file and the environment. A fault in them ends every other command. */
export function examineSettings({ settings }: CliConfig, cwd: string): Diagnosis {
  const { path, fault } = settings
  const misnamed = fault === undefined && path === undefined ? misnamedSettings(cwd) : undefined
  if (misnamed !== undefined) {
    const found = `${misnamed} is not read`
    return { name: 'settings', state: 'warning', needed: true, found, advice: 'name it remora.yaml' }
  }
  if (fault === undefined) return fine('settings', path ?? 'no remora.yaml here or above: defaults and the environment')
  const advice = 'docs/reference/config.md has every key and variable'
  return { name: 'settings', state: 'missing', needed: true, found: `${fault.code} ${fault.message}`, advice }
}

export async function examineRunSettings(config: CliConfig): Promise<Diagnosis[]> {
  const faults = await settingsFaults(config)
  return faults.map(({ code, message }) => ({
    name: 'settings',
    state: 'missing',
    needed: true,
    found: `${code} ${message}`,
    advice: 'every run is refused until this is settled',
  }))
}

const gibibyte = 1024 ** 3
const leastDisk = 64 * 1024 ** 2
const Package = z.object({ version: z.string() })
const libraries = ['bullmq', 'ioredis', '@20minutes/s3rver', '@pydantic/monty', 'web-tree-sitter', 'hono', 'commander']

/** The Node this command runs on, which is the package's own unless the one that started it is as new. */
export function examineNode(): Diagnosis {
  const own = process.execPath.includes('node_modules') ? "the package's own" : 'the one of the system'
  return fine('node', `${process.versions.node}, ${own}, at ${process.execPath}`)
}

export async function examineDisk(dataDir: string): Promise<Diagnosis> {
  const folder = await existingFolder(dataDir)
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const found = `${inGibibytes(free)} free in ${folder}`
  if (free >= gibibyte) return fine('disk', found)
  const advice = 'free some space, or name another folder in REMORA_DATA_DIR'
  return { name: 'disk', state: free < leastDisk ? 'missing' : 'warning', needed: true, found, advice }
}

export function examineMemory(): Diagnosis {
  const found = `${inGibibytes(freemem())} of ${inGibibytes(totalmem())} free`
  if (freemem() >= gibibyte) return fine('memory', found)
  return { name: 'memory', state: 'warning', needed: true, found, advice: 'use fewer workers: --workers 1' }
}

/** Says whether a stack can keep its data in `dataDir`, and whether this version can read the data there. Creates nothing. */
export async function examineData(dataDir: string): Promise<Diagnosis> {
  const folder = await existingFolder(dataDir)
  const writable = await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
  const elsewhere = 'name another folder in REMORA_DATA_DIR'
  const refused = { name: 'data', state: 'missing', needed: true } as const
  if (!writable) return { ...refused, found: `${folder} is not writable`, advice: `make it writable, or ${elsewhere}` }
  if (folder !== dataDir) return fine('data', `${dataDir}, made at the first run`)
  const version = readDataVersion(dataDir) ?? dataVersion
  if (version === dataVersion) return fine('data', `${dataDir}, version ${version}`)
  const found = `${dataDir} has data of version ${version}, this Remora knows ${dataVersion}`
  return { ...refused, found, advice: `use the newer Remora that wrote them, or ${elsewhere}` }
}

export async function examineStack(dataDir: string): Promise<Diagnosis> {
  const running = await findRunningStack(dataDir)
  return fine('stack', running === undefined ? 'no services run in the data folder' : `runs at ${running.url}`)
}

export async function examineVersions(version: string): Promise<Diagnosis> {
  const found = await Promise.all(libraries.map(async (name) => `${name} ${await versionOf(name)}`))
  return fine('versions', [`remora ${version}`, ...found].join(', '))
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
