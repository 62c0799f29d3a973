import { mkdir, open, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { pipeline } from 'node:stream/promises'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { AppError } from '#domain/error.ts'
import { isMountable } from '#sandbox/sandboxed-program.ts'

/** Folders of an unpacked environment: what is found in /environment, what is laid into the working folder, and its node_modules. */
export const environmentParts = { environment: 'environment', added: 'added', modules: 'modules' } as const

export type UnpackLimits = { maxBytes: number; maxEntries: number }
export type Unpacked = {
  bytes: number
  /** Paths from the top of the repository of the folders `node_modules` that are in no other. */
  modules: string[]
  /** Folders in them where tools keep what they computed, and write it. */
  caches: string[]
}

const cacheNames = ['.cache', '.vite', '.vite-temp']

const mostChars = 4_096
/** Each module is an argument of what starts a program, with its caches. */
const mostModules = 200
const mostModuleChars = 500

/**
 * Unpacks what a setup has made into `dir`, an empty folder. Programs of a repository wrote it: only files, folders and symbolic links
 * are made, each where there is nothing yet; links come last, none leads through another, and where they point is never looked at. SETUP_001
 * for anything else, for names that leave the folder, and for what is over the limits.
 */
export async function unpackEnvironment(
  gzipped: AsyncIterable<Uint8Array>,
  dir: string,
  { maxBytes, maxEntries }: UnpackLimits,
): Promise<Unpacked> {
  const links = new Map<string, string>()
  const modules = new Set<string>()
  let [bytes, entries] = [0, 0]
  const folders = openFolders(dir)
  for (const part of Object.values(environmentParts)) await folders.make(part)
  try {
    for await (const entry of ReadableStream.from(unzipped(gzipped)).pipeThrough(createTarDecoder({ strict: true }))) {
      const { header } = entry
      const { path, module } = placeOf(header, modules)
      if ((entries += 1) > maxEntries) throw refused(`has more than ${maxEntries} entries`)
      if ((bytes += header.size) > maxBytes) throw refused(`has more than ${maxBytes} bytes`)
      if (module !== undefined) addModule(modules, module)
      if (header.type === 'directory') await folders.make(path)
      else if (header.type === 'symlink') links.set(path, header.linkname ?? '')
      else if (header.type === undefined || header.type === 'file') await writeEntry(entry, { path, dir, folders })
      else throw refused(`has a ${header.type}: ${path}`)
      if (header.type === 'directory' || header.type === 'symlink') await entry.body.cancel()
    }
    const caches = [...modules].flatMap((path) => cacheNames.map((name) => `${path}/${name}`))
    const places = caches.map((path) => `${environmentParts.modules}/${path}`)
    if (places.some((path) => links.has(path))) throw refused(`has a link where tools write: ${places.join(', ')}`)
    for (const path of places) await folders.make(path)
    await makeLinks(links, { dir, folders })
    return { bytes, modules: [...modules], caches }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw refused(`cannot be unpacked: ${error instanceof Error ? error.message : String(error)}`, error)
  }
}

async function* unzipped(gzipped: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip()
  const feeding = pipeline(gzipped, gunzip).catch(() => {}) // reading it throws the same
  try {
    yield* gunzip
  } finally {
    gunzip.destroy()
    await feeding
  }
}

function refused(why: string, cause?: unknown): AppError {
  return new AppError('SETUP_001', `what the setup made ${why}`, { cause })
}

function addModule(modules: Set<string>, path: string): void {
  if (path.length > mostModuleChars || !isMountable(path)) throw refused(`has a folder ${JSON.stringify(path)}`)
  if (modules.add(path).size > mostModules) throw refused(`has more than ${mostModules} folders node_modules`)
}

/**
 * Says where an entry goes. `module`: the folder `node_modules` that it is, if it is in no other. An entry whose folder
 * `node_modules` is not in the archive (`modules`) is new in one that the repository has: it is laid there, since a
 * mount would hide the rest.
 */
function placeOf(
  { name, type }: ParsedTarEntry['header'],
  modules: ReadonlySet<string>,
): { path: string; module?: string | undefined } {
  const parts = name.replace(/\/$/, '').split('/')
  const isBad = parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))
  if (isBad || name.length > mostChars) throw refused(`has the path ${JSON.stringify(name.slice(0, 200))}`)
  const [top, ...rest] = parts
  if (top === 'environment') return { path: [environmentParts.environment, ...rest].join('/') }
  if (top !== 'workspace') throw refused(`has the path ${JSON.stringify(name.slice(0, 200))}`)
  const at = rest.indexOf('node_modules')
  if (at === -1) return { path: [environmentParts.added, ...rest].join('/') }
  const module = type === 'directory' && at === rest.length - 1 ? rest.join('/') : undefined
  if (module === undefined && !modules.has(rest.slice(0, at + 1).join('/')))
    return { path: [environmentParts.added, ...rest].join('/') }
  return { path: [environmentParts.modules, ...rest].join('/'), module }
}

type Folders = ReturnType<typeof openFolders>

/** Makes folders once each. What is there by then was made here, and is no link: those come last. */
function openFolders(dir: string) {
  const made = new Set<string>(['.'])
  const make = async (path: string): Promise<void> => {
    if (made.has(path)) return
    await make(dirname(path))
    await mkdir(join(dir, path), { mode: 0o755 })
    made.add(path)
  }
  return { make }
}

type Place = { dir: string; folders: Folders }

async function writeEntry(
  { header, body }: ParsedTarEntry,
  { path, dir, folders }: Place & { path: string },
): Promise<void> {
  await folders.make(dirname(path))
  const target = join(dir, path)
  // Only whether it is a program counts of its mode. `wx`: nothing is there, not even a link.
  const file = await open(target, 'wx', ((header.mode ?? 0) & 0o111) === 0 ? 0o644 : 0o755)
  try {
    for await (const chunk of body) await file.writeFile(chunk)
    // Python compares it with that of which a compiled file was made.
    if (header.mtime !== undefined) await file.utimes(header.mtime, header.mtime)
  } finally {
    await file.close()
  }
}

async function makeLinks(links: ReadonlyMap<string, string>, { dir, folders }: Place): Promise<void> {
  for (const [path, target] of links) {
    for (let above = dirname(path); above !== '.'; above = dirname(above)) {
      if (links.has(above)) throw refused(`has a path that leads through a link: ${path}`)
    }
    if (target === '' || target.length > mostChars || target.includes('\0')) throw refused(`has a bad link: ${path}`)
    await folders.make(dirname(path))
    await symlink(target, join(dir, path))
  }
}
