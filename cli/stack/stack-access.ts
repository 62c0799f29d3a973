import { randomUUID } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { ModelKind } from '#domain/model-kind.ts'
import { readOwnFile } from '#platform/own-file.ts'
import { isOwnFolder } from '#platform/own-folder.ts'
import { identify, isAlive, ProcessIdentity } from '../process-identity.ts'

const S3Access = z.object({
  endpoint: z.string(),
  bucket: z.string(),
  region: z.string(),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
})

/** How another command on this machine reaches the stack that runs in a data folder. */
const StackAccess = z.object({
  url: z.string(),
  token: z.string(),
  redisUrl: z.string(),
  s3: S3Access,
  modelKind: ModelKind.optional(),
})
export type StackAccess = z.infer<typeof StackAccess>

const AccessFile = StackAccess.extend({ owner: ProcessIdentity })

const ownerOnly = 0o600
const maxBytes = 64 * 1024

/**
 * Leaves `access` in the data folder, in a file only this user can read; answers how to take it away again. The caller
 * has the folder's lock.
 */
export async function publishAccess(dataDir: string, access: StackAccess): Promise<() => Promise<void>> {
  const path = accessPath(dataDir)
  const temporary = `${path}.${randomUUID()}`
  const owner = await identify(process.pid)
  await writeFile(temporary, JSON.stringify({ ...access, owner }), { mode: ownerOnly, flag: 'wx' })
  await rename(temporary, path)
  return () => rm(path, { force: true })
}

/** The stack that runs in the data folder. Undefined when there is none: what a killed one has left does not count. */
export async function findRunningStack(dataDir: string): Promise<StackAccess | undefined> {
  if (!(await isOwnFolder(dataDir))) return undefined
  const file = readAccess(accessPath(dataDir))
  if (file === undefined || !(await isAlive(file.owner))) return undefined
  const { owner: _, ...access } = file
  return access
}

/** Undefined for a file that is not there, not closed to others as ours is, or not written by this. */
function readAccess(path: string): z.infer<typeof AccessFile> | undefined {
  const file = readOwnFile(path, { maxBytes, isSecret: true })
  return file.kind === 'text' ? AccessFile.safeParse(parseJson(file.text)).data : undefined
}

function accessPath(dataDir: string): string {
  return join(dataDir, 'stack-access.json')
}
