import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { delay } from '#platform/clock.ts'

/** `startedAt` tells a process from a later one that was given the same id; empty where the system does not say. */
const LockedProcess = z.object({ pid: z.int().positive(), startedAt: z.string() })
type LockedProcess = z.infer<typeof LockedProcess>

const LockFile = z.object({ owner: LockedProcess, children: z.array(LockedProcess) })
type LockFile = z.infer<typeof LockFile>

export type StackLock = {
  /** Records processes that must be gone before another stack may use the folder. */
  addChildren(pids: readonly number[]): Promise<void>
  release(): Promise<void>
}

const orphanMs = 10_000

/**
 * Takes the data folder (made if missing) for this process. CONFIG_006 when a living stack has it. The lock of a dead
 * one is taken over, once the processes it had started are gone too.
 */
export async function lockStack(dataDir: string): Promise<StackLock> {
  await mkdir(dataDir, { recursive: true })
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
  const other = await readLock(path)
  if (other !== undefined) {
    if (await isAlive(other.owner)) throw inUse(dataDir, other.owner.pid)
    await waitForOrphans(other.children, dataDir)
  }
  const stale = `${path}.${randomUUID()}`
  await rename(path, stale).catch(() => {}) // gone already: another process takes it over at this moment
  await rm(stale, { force: true })
  if (!(await created(path, mine))) throw inUse(dataDir, (await readLock(path))?.owner.pid)
}

/** Writes the whole file beside and links it, so that a lock never exists without its content. */
async function created(path: string, content: LockFile): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}`
  await writeFile(temporary, JSON.stringify(content))
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

async function replace(path: string, content: LockFile): Promise<void> {
  const temporary = `${path}.${randomUUID()}`
  await writeFile(temporary, JSON.stringify(content))
  await rename(temporary, path)
}

/** Undefined for a file that is gone or not a lock of ours. */
async function readLock(path: string): Promise<LockFile | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '')
  try {
    return LockFile.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

async function waitForOrphans(children: readonly LockedProcess[], dataDir: string): Promise<void> {
  const deadline = performance.now() + orphanMs
  for (const child of children) {
    while (await isAlive(child)) {
      if (performance.now() > deadline) throw inUse(dataDir, child.pid)
      await delay(50)
    }
  }
}

async function identify(pid: number): Promise<LockedProcess> {
  return { pid, startedAt: await startTime(pid) }
}

async function isAlive(process: LockedProcess): Promise<boolean> {
  if (!answersSignal(process.pid)) return false
  return (await startTime(process.pid)) === process.startedAt
}

function answersSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Clock ticks since boot, field 22 of proc(5) `stat`; the name before it, in brackets, may hold spaces. */
async function startTime(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

function inUse(dataDir: string, pid: number | undefined): AppError {
  const holder = pid === undefined ? 'Another process' : `Process ${pid}`
  return new AppError(
    'CONFIG_006',
    `${holder} already runs a stack in ${dataDir}: use it (REMORA_API_URL), stop it, or choose another REMORA_DATA_DIR.`,
  )
}
