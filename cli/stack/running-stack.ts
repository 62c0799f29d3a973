import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { Env } from '#platform/env.ts'
import { type FolderLock, lockFolder, readDocument, replaceDocument } from '#platform/folder-lock.ts'
import { isOwnFolder } from '#platform/own-file.ts'
import { identify, isAlive, ProcessIdentity } from '#platform/process-identity.ts'
import { ModelKind } from '#domain/model-kind.ts'
import { claimDataVersion, makeDataFolder } from './data-folder.ts'

export type StackLock = FolderLock

/**
 * Takes the data folder once a dead stack's processes have ended, and a command that is brief has. CONFIG_003 when it cannot be written,
 * CONFIG_006 when a living stack has it.
 */
export async function lockStack(
  dataDir: string,
  { env = {}, isBrief = false }: { env?: Env | undefined; isBrief?: boolean } = {},
): Promise<StackLock> {
  await makeDataFolder(dataDir, env)
  await claimDataVersion(dataDir)
  return lockFolder(join(dataDir, 'stack.lock'), (holder) => inUse(dataDir, holder), { isBrief })
}

function inUse(dataDir: string, holder: string): AppError {
  return new AppError(
    'CONFIG_006',
    `${holder} already runs the services in ${dataDir}: give them work with "remora submit", stop them, or choose another REMORA_DATA_DIR.`,
  )
}

const SigningKey = z.object({ key: z.string().min(32) })

/**
 * Returns the key with which the API and the publisher of the folder sign. It is made once: what was decided, and the tokens that were made, before a stack ended
 * are to count in the next one. The caller holds the folder's lock.
 */
export async function keptSigningKey(dataDir: string): Promise<string> {
  const path = join(dataDir, 'stack-signing.json')
  const kept = readDocument(path, SigningKey, { isSecret: true })
  const { key } = kept ?? { key: randomBytes(32).toString('base64url') }
  if (kept === undefined) await replaceDocument(path, { key })
  return key
}

const text = z.string()
const StackAccess = z.object({
  url: text,
  token: text,
  redisUrl: text,
  objectsUrl: text,
  modelKind: ModelKind.optional(),
})
export type StackAccess = z.infer<typeof StackAccess>

const AccessFile = StackAccess.extend({ owner: ProcessIdentity })

/** Writes a file only this user can read; returns its remover. The caller holds the folder's lock. */
export async function publishAccess(dataDir: string, access: StackAccess): Promise<() => Promise<void>> {
  const path = accessPath(dataDir)
  await replaceDocument(path, { ...access, owner: await identify(process.pid) })
  return () => rm(path, { force: true })
}

/** Returns the stack that runs in the data folder. Undefined when there is none: the file of a killed stack does not count. */
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
