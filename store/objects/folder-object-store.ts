import { randomUUID } from 'node:crypto'
import { createReadStream, type Dirent } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { untilAborted } from '#platform/clock.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { type ListedObject, type ObjectStore, readUpload } from './object-store.ts'
import { systemCode, watchRoom } from './store-fault.ts'

/**
 * Keeps objects as files, each under its key, for services that share one machine. An object is written under another name first, so a
 * reader or a crash finds all of it or nothing. A folder stays when its last object is deleted: another process may be putting one there.
 */
export function openFolderObjectStore(folder: string): ObjectStore {
  const room = watchRoom()
  const pathOf = (key: string) => join(folder, ...partsOf(key))
  const write = async (key: string, body: Parameters<typeof writeFile>[1]) =>
    room.noted(understood(key, putFile(folder, pathOf(key), body)))
  return {
    put: (key, body) => write(key, body),
    async putStream(key, source, { maxBytes }) {
      let bytes = 0
      async function* counted() {
        for await (const chunk of readUpload(source, maxBytes)) {
          bytes += chunk.length
          yield chunk
        }
      }
      await write(key, counted())
      return { bytes }
    },
    get: async (key) => understood(key, readFile(pathOf(key))),
    getRange: async (key, { start, end }) => understood(key, readRange(pathOf(key), key, { start, end })),
    async *getStream(key, signal) {
      try {
        yield* createReadStream(pathOf(key), signal === undefined ? {} : { signal })
      } catch (error) {
        throw signal?.aborted === true ? signal.reason : storeError(error, key)
      }
    },
    exists: async (key) => (await statFile(key, pathOf(key))) !== undefined,
    stat: async (key) => statFile(key, pathOf(key)),
    delete: async (key) => remove(key, pathOf(key)),
    list: (prefix, signal) => listFiles(folder, prefix, signal),
    async deleteMany(keys, signal) {
      await mapBounded(keys, deletions, (key) => {
        signal?.throwIfAborted()
        return remove(key, pathOf(key))
      })
    },
    async ping() {
      const looked = room.isLacking() ? write(pingKey, Buffer.alloc(pingBytes)) : stat(folder)
      await untilAborted<unknown>(looked, AbortSignal.timeout(pingMs)).catch((error: unknown) => {
        throw faultOf(error, folder)
      })
    },
    close() {},
  }
}

/** Makes the folder of a store, and drops what writers that were killed have left in it. No other process may use it yet. */
export async function makeObjectFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: ownerOnly })
  await rm(join(folder, partsFolder), { recursive: true, force: true })
}

const ownerOnly = 0o700
/** No key begins with a dot. */
const partsFolder = '.parts'
const deletions = 16
const pingKey = 'ping'
const pingMs = 3_000
/** A disk that is full may still take a few bytes. */
const pingBytes = 65_536

function partsOf(key: string): string[] {
  const parts = key.split('/')
  if (parts.every((part) => /^[^.\0][^\0]*$/.test(part))) return parts
  throw new AppError('STORE_003', `object ${JSON.stringify(key)} is missing: no object can have this key`)
}

async function putFile(folder: string, path: string, body: Parameters<typeof writeFile>[1]): Promise<void> {
  const parts = join(folder, partsFolder)
  const part = join(parts, randomUUID())
  try {
    // A stream is read once, so the folder is there before.
    if (typeof body === 'string' || ArrayBuffer.isView(body)) await orMade(parts, () => writeFile(part, body))
    else await mkdir(parts, { recursive: true, mode: ownerOnly }).then(() => writeFile(part, body))
    await orMade(dirname(path), () => rename(part, path))
  } catch (error) {
    await rm(part, { force: true }).catch(() => {}) // the fault that matters is the one being thrown
    throw error
  }
}

/** Makes `dir` only where it is missing, which is seldom. */
async function orMade(dir: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
    await mkdir(dir, { recursive: true, mode: ownerOnly })
    await write()
  }
}

async function readRange(path: string, key: string, { start, end }: { start: number; end: number }) {
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start)
  if (bytesRead === end - start) return buffer
  throw new AppError('STORE_002', `object store: ${key}: ${bytesRead} bytes were returned for ${start} to ${end}`)
}

async function statFile(key: string, path: string): Promise<ListedObject | undefined> {
  try {
    const file = await stat(path)
    if (!file.isFile()) return undefined
    const { mtimeMs, size } = file
    return { key, lastModified: Math.floor(mtimeMs), bytes: size }
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw storeError(error, key)
  }
}

async function remove(key: string, path: string): Promise<void> {
  await rm(path, { force: true }).catch((error: unknown) => {
    if (!isAbsent(error)) throw storeError(error, key)
  })
}

async function* listFiles(folder: string, prefix: string, signal?: AbortSignal): AsyncGenerator<ListedObject> {
  signal?.throwIfAborted()
  const above = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  const entries = await readdir(join(folder, above), { withFileTypes: true }).catch((error: unknown): Dirent[] => {
    if (isAbsent(error)) return []
    throw storeError(error, `list ${prefix}`)
  })
  const keys = entries.filter(({ name }) => !name.startsWith('.')).map((entry) => above + entry.name + endOf(entry))
  for (const key of keys.filter((one) => one.startsWith(prefix)).toSorted(byBytes)) {
    signal?.throwIfAborted()
    const listed = key.endsWith('/') ? undefined : await statFile(key, join(folder, key))
    if (key.endsWith('/')) yield* listFiles(folder, key, signal)
    else if (listed !== undefined) yield listed
  }
}

const endOf = (entry: Dirent) => (entry.isDirectory() ? '/' : '')
const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'EISDIR'].includes(systemCode(error) ?? '')
}

async function understood<T>(key: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw storeError(error, key)
  }
}

function storeError(error: unknown, key: string): unknown {
  if (error instanceof AppError || !isAbsent(error)) return faultOf(error, key)
  return new AppError('STORE_003', `object ${key} is missing`, { cause: error })
}

function faultOf(error: unknown, place: string): AppError {
  if (error instanceof AppError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new AppError('STORE_002', `object store: ${place}: ${message}`, { cause: error })
}
