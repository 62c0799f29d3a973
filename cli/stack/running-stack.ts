import { link, lstat, rename, rm, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import { delay } from '#platform/clock.ts'
import type { Env } from '#platform/env.ts'
import { isOfUser, isOwnFolder, readOwnFile } from '#platform/own-file.ts'
import { ModelKind } from '#domain/model-kind.ts'
import { claimDataVersion, makeDataFolder } from './data-folder.ts'
import { identify, isAlive, ProcessIdentity } from '../process-identity.ts'

const LockFile = z.object({ owner: ProcessIdentity, children: z.array(ProcessIdentity) })
type LockFile = z.infer<typeof LockFile>

export type StackLock = {
  /** Records processes that must have ended before another stack may use the folder. */
  addChildren(pids: readonly number[]): Promise<void>
  release(): Promise<void>
}

const orphanMs = 10_000
const ownerOnly = 0o600
const maxBytes = 64 * 1024

/**
 * Takes the data folder for this process. CONFIG_003 when it cannot be made or written, CONFIG_006 when a living stack
 * has it or a newer Remora wrote it. A dead stack's lock is taken over once its processes have ended, too.
 */
export async function lockStack(dataDir: string, env: Env = {}): Promise<StackLock> {
  await makeDataFolder(dataDir, env)
  await claimDataVersion(dataDir)
  const path = join(dataDir, 'stack.lock')
  const held: LockFile = { owner: await identify(process.pid), children: [] }
  await acquire(path, held, dataDir)
  return {
    async addChildren(pids) {
      held.children.push(...(await Promise.all(pids.map(identify))))
      await replace(path, held)
    },
    release: () => rm(path, { force: true }),
  }
}

async function acquire(path: string, mine: LockFile, dataDir: string): Promise<void> {
  if (await created(path, mine)) return
  const stats = await lstat(path).catch(() => undefined)
  if (stats !== undefined && !isOfUser(stats)) throw inUse(dataDir, undefined)
  const other = readLock(path)
  if (other !== undefined) {
    if (await isAlive(other.owner)) throw inUse(dataDir, other.owner.pid)
    await waitForOrphans(other.children, dataDir)
  }
  const stale = `${path}.${randomUUID()}`
  await rename(path, stale).catch(() => {}) // missing: another process takes it over at this moment
  await rm(stale, { force: true })
  if (!(await created(path, mine))) throw inUse(dataDir, readLock(path)?.owner.pid)
}

/** Writes a temporary file and links it, so that a lock never exists without its content. */
async function created(path: string, content: LockFile): Promise<boolean> {
  const temporary = await writeTemporary(path, content)
  try {
    await link(temporary, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    await rm(temporary, { force: true })
  }
}

async function replace(path: string, content: object): Promise<void> {
  await rename(await writeTemporary(path, content), path)
}

async function writeTemporary(path: string, content: object): Promise<string> {
  const temporary = `${path}.${randomUUID()}`
  await writeFile(temporary, JSON.stringify(content), { mode: ownerOnly, flag: 'wx' })
  return temporary
}

function readLock(path: string): LockFile | undefined {
  return readDocument(path, LockFile, { isSecret: false })
}

/** Undefined for a file that is missing, of another user, none of ours or, if it is secret, readable by others. */
function readDocument<T>(path: string, schema: z.ZodType<T>, { isSecret }: { isSecret: boolean }): T | undefined {
  const file = readOwnFile(path, { maxBytes, isSecret })
  return file.kind === 'text' ? schema.safeParse(parseJson(file.text)).data : undefined
}

async function waitForOrphans(children: readonly ProcessIdentity[], dataDir: string): Promise<void> {
  const deadline = performance.now() + orphanMs
  for (const child of children) {
    while (await isAlive(child)) {
      if (performance.now() > deadline) throw inUse(dataDir, child.pid)
      await delay(50)
    }
  }
}

function inUse(dataDir: string, pid: number | undefined): AppError {
  const holder = pid === undefined ? 'Another process' : `Process ${pid}`
  return new AppError(
    'CONFIG_006',
    `${holder} already runs the services in ${dataDir}: give them work with "remora submit", stop them, or choose another REMORA_DATA_DIR.`,
  )
}

const text = z.string()
const StackAccess = z.object({
  url: text,
  token: text,
  redisUrl: text,
  s3: z.object({ endpoint: text, bucket: text, region: text, accessKeyId: text, secretAccessKey: text }),
  modelKind: ModelKind.optional(),
})
export type StackAccess = z.infer<typeof StackAccess>

const AccessFile = StackAccess.extend({ owner: ProcessIdentity })

/** Writes a file only this user can read; returns its remover. The caller holds the folder's lock. */
export async function publishAccess(dataDir: string, access: StackAccess): Promise<() => Promise<void>> {
  const path = accessPath(dataDir)
  await replace(path, { ...access, owner: await identify(process.pid) })
  return () => rm(path, { force: true })
}

/** The stack that runs in the data folder. Undefined when there is none: the file of a killed stack does not count. */
export async function findRunningStack(dataDir: string): Promise<StackAccess | undefined> {
  if (!(await isOwnFolder(dataDir))) return undefined
  const file = readDocument(accessPath(dataDir), AccessFile, { isSecret: true })
  if (file === undefined || !(await isAlive(file.owner))) return undefined
  const { owner: _, ...access } = file
  return access
}

function accessPath(dataDir: string): string {
  return join(dataDir, 'stack-access.json')
}
