import { link, lstat, rename, rm, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { AppError } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import { delay } from './clock.ts'
import { isOfUser, readOwnFile } from './own-file.ts'
import { identify, isAlive, ProcessIdentity } from './process-identity.ts'

const LockFile = z.object({ owner: ProcessIdentity, children: z.array(ProcessIdentity), isBrief: z.boolean() })
type LockFile = z.infer<typeof LockFile>

export type FolderLock = {
  /** Records processes that must have ended before another process may use the folder. */
  addChildren(pids: readonly number[]): Promise<void>
  release(): Promise<void>
}

type InUse = (holder: string) => AppError

const orphanMs = 10_000
/** One who wants the folder waits so long for a brief holder. */
const briefMs = 10_000
const lookMs = 20
const ownerOnly = 0o600
const maxBytes = 64 * 1024

/**
 * Takes the lock file at `path` for this process. That of a dead process is taken over once its children have ended, too; one who holds
 * it only to look at something (`isBrief`) is waited for.
 */
export async function lockFolder(path: string, inUse: InUse, { isBrief = false } = {}): Promise<FolderLock> {
  const held: LockFile = { owner: await identify(process.pid), children: [], isBrief }
  await acquire(path, held, (pid) => inUse(pid === undefined ? 'Another process' : `Process ${pid}`))
  return {
    async addChildren(pids) {
      held.children.push(...(await Promise.all(pids.map(identify))))
      await replaceDocument(path, held)
    },
    release: () => rm(path, { force: true }),
  }
}

async function acquire(path: string, mine: LockFile, inUse: (pid?: number) => AppError): Promise<void> {
  const deadline = performance.now() + briefMs
  while (!(await created(path, mine))) {
    const stats = await lstat(path).catch(() => undefined)
    if (stats !== undefined && !isOfUser(stats)) throw inUse()
    const other = readLock(path)
    const isHeld = other !== undefined && (await isAlive(other.owner))
    if (isHeld && !other.isBrief) throw inUse(other.owner.pid)
    if (performance.now() > deadline) throw inUse(other?.owner.pid)
    if (isHeld) await delay(lookMs)
    else await dropStale(path, other, inUse)
  }
}

/** Removes the lock of a dead process. Another process may do the same at this moment, and take the folder. */
async function dropStale(path: string, dead: LockFile | undefined, inUse: (pid?: number) => AppError): Promise<void> {
  if (dead !== undefined) await waitForOrphans(dead.children, inUse)
  const now = readLock(path)
  if (now?.owner.pid !== dead?.owner.pid || now?.owner.startedAt !== dead?.owner.startedAt) return
  const stale = `${path}.${randomUUID()}`
  await rename(path, stale).catch(() => {}) // missing: another process takes it over at this moment
  await rm(stale, { force: true })
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

export async function replaceDocument(path: string, content: object): Promise<void> {
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

/** Returns undefined for a file that is missing, of another user, none of ours or, if it is secret, readable by others. */
export function readDocument<T>(path: string, schema: z.ZodType<T>, { isSecret }: { isSecret: boolean }) {
  const file = readOwnFile(path, { maxBytes, isSecret })
  return file.kind === 'text' ? schema.safeParse(parseJson(file.text)).data : undefined
}

async function waitForOrphans(children: readonly ProcessIdentity[], inUse: (pid?: number) => AppError): Promise<void> {
  const deadline = performance.now() + orphanMs
  for (const child of children) {
    while (await isAlive(child)) {
      if (performance.now() > deadline) throw inUse(child.pid)
      await delay(50)
    }
  }
}
