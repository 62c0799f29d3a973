import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync, inflateSync } from 'node:zlib'

export type GitObject = { type: string; bytes: Buffer }

export const isId = (name: string): boolean => /^[0-9a-f]{40}$/.test(name)

/**
 * Reads and writes the files of objects and refs of a bare repository as git does: a test of the publisher asks for them thousands of
 * times, and to start git takes longer than all else that a request does. Nothing there is packed.
 */
export function gitFiles(folder: string) {
  /** Blobs are not kept: they may be large. */
  const known = new Map<string, GitObject>()
  const pathOf = (sha: string) => join(folder, 'objects', sha.slice(0, 2), sha.slice(2))

  async function readObject(sha: string): Promise<GitObject | undefined> {
    if (!isId(sha)) return undefined
    const found = known.get(sha) ?? (await readLoose(pathOf(sha)))
    if (found !== undefined && found.type !== 'blob') known.set(sha, found)
    return found
  }

  /** The object of the type that a commit or a tag leads to. */
  async function peel(sha: string, type: 'commit' | 'tree'): Promise<string | undefined> {
    const found = await readObject(sha)
    if (found?.type === type) return sha
    const isPointer = found?.type === 'commit' || found?.type === 'tag'
    const [, next] = /^(?:tree|object) (\w+)$/m.exec(isPointer ? found.bytes.toString() : '') ?? []
    return next === undefined ? undefined : peel(next, type)
  }

  return {
    readObject,
    peel,
    async writeObject(type: string, content: string | Uint8Array): Promise<string> {
      const bytes = Buffer.from(content)
      const whole = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes])
      const sha = createHash('sha1').update(whole).digest('hex')
      if ((await readLoose(pathOf(sha))) !== undefined) return sha
      const fresh = join(folder, `object-${randomUUID()}`)
      await mkdir(join(pathOf(sha), '..'), { recursive: true })
      await writeFile(fresh, deflateSync(whole), { mode: 0o444 })
      await rename(fresh, pathOf(sha))
      return sha
    },
    async readRef(ref: string): Promise<string | undefined> {
      const sha = await readText(join(folder, ref))
      return sha.trim() || undefined
    },
    /** The refs whose names begin with `under` and a slash, in the order of their names. */
    async listRefs(under: string): Promise<{ ref: string; sha: string }[]> {
      const all = (await looseRefs(folder, under)).map(([ref, sha]) => ({ ref, sha }))
      return all.toSorted((one, other) => (one.ref < other.ref ? -1 : 1))
    },
  }
}

async function looseRefs(folder: string, under: string): Promise<[ref: string, sha: string][]> {
  const entries = await readdir(join(folder, under), { withFileTypes: true }).catch(ifMissing([]))
  const found = entries.map(async (entry): Promise<[string, string][]> => {
    const ref = `${under}/${entry.name}`
    if (entry.isDirectory()) return looseRefs(folder, ref)
    const sha = ref.endsWith('.lock') ? '' : await readText(join(folder, ref))
    return sha === '' ? [] : [[ref, sha.trim()]]
  })
  return (await Promise.all(found)).flat()
}

async function readLoose(path: string): Promise<GitObject | undefined> {
  const packed = await readFile(path).catch(ifMissing(undefined))
  if (packed === undefined) return undefined
  const whole = inflateSync(packed)
  const end = whole.indexOf(0)
  return { type: whole.subarray(0, whole.indexOf(' ')).toString(), bytes: whole.subarray(end + 1) }
}

const missing = new Set<unknown>(['ENOENT', 'ENOTDIR', 'EISDIR'])

/** The text of a file, which is empty where there is none. */
async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(ifMissing(''))
}

function ifMissing<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (error instanceof Error && 'code' in error && missing.has(error.code)) return value
    throw error
  }
}
