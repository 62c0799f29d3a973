import { randomUUID } from 'node:crypto'
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { AppError, hasCode } from '#domain/error.ts'
import { type ProjectId, sha256 } from '#domain/ids.ts'
import { environmentFolder, goModuleCache, type RunEnvironment } from '#domain/setup.ts'
import { parseJson } from '#domain/json.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { makeOwnFolder } from '#platform/own-file.ts'
import { programPath } from '#sandbox/bubblewrap.ts'
import { addedFolder, type SandboxedProgram, workFolder } from '#sandbox/sandboxed-program.ts'
import { environmentParts, unpackEnvironment } from './unpack-environment.ts'

export type Surroundings = Pick<SandboxedProgram, 'mounts' | 'folders' | 'environment'>

/** Finds the environment of a run's programs: nothing for a run without a setup. SETUP_001 when its setup failed. */
export type OpenEnvironment = (project: ProjectId, environment: RunEnvironment | null) => Promise<Surroundings>

export type EnvironmentsOptions = {
  objects: Pick<ObjectStore, 'getStream'>
  dir: string
  keptBytes: number
  isRoot?: boolean
}

const maxEntries = 500_000
const mostRefusals = 1_000
/** One that a program has used within this time may still be in use. */
const usedMs = 3_600_000

const Described = z.object({ bytes: z.number(), modules: z.array(z.string()), caches: z.array(z.string()) })
const describedIn = 'environment.json'

/** Keeps the environments that setups made, unpacked once each. */
export function openEnvironments(options: EnvironmentsOptions): OpenEnvironment {
  const { dir } = options
  const underWay = new Map<string, Promise<void>>()
  const refusals = new LRUCache<string, AppError>({ max: mostRefusals })
  return async (project, environment) => {
    if (environment === null || environment.kind === 'wanted') return {}
    if (environment.kind === 'failed') throw failed(environment)
    const name = sha256(`${project}/${environment.key}`)
    const folder = join(dir, name)
    const used = await markUsed(folder)
    if (used !== undefined) return surroundings(folder, used)
    const refusal = refusals.get(name)
    if (refusal !== undefined) throw refusal
    const refuse = (why: AppError) => void refusals.set(name, why)
    const unpacking =
      underWay.get(name) ??
      unpackOnce({ folder, key: objectKeys.environment(project, environment.key), refuse }, options).finally(() =>
        underWay.delete(name),
      )
    underWay.set(name, unpacking)
    await unpacking
    const unpacked = await markUsed(folder)
    if (unpacked === undefined) throw new AppError('SETUP_001', `the folder ${dir} does not keep environments`)
    return surroundings(folder, unpacked)
  }
}

function failed({ command, reason, output }: Extract<RunEnvironment, { kind: 'failed' }>): AppError {
  const last = output.trimEnd().split('\n').at(-1)?.trim().slice(0, 300) ?? ''
  return new AppError('SETUP_001', `the setup "${command}" failed: ${reason}${last === '' ? '' : `: ${last}`}`)
}

async function markUsed(folder: string): Promise<z.infer<typeof Described> | undefined> {
  const path = join(folder, describedIn)
  const now = new Date()
  const text = await utimes(path, now, now).then(
    () => readFile(path, 'utf8').catch(() => ''),
    () => '',
  )
  return Described.safeParse(parseJson(text)).data
}

/** Unpacks under a name of its own first: another process may be faster. `refuse` learns why this can never be unpacked. */
async function unpackOnce(
  { folder, key, refuse }: { folder: string; key: string; refuse(why: AppError): void },
  options: EnvironmentsOptions,
): Promise<void> {
  const { dir, objects, keptBytes, isRoot = process.getuid?.() === 0 } = options
  // Root's programs are started as nobody.
  if (!(await makeOwnFolder(dir, isRoot ? 0o755 : 0o700)))
    throw new AppError('SETUP_001', `environments are not kept in ${dir}, which others may write, or this user may not`)
  const fresh = `${folder}.${randomUUID()}`
  try {
    if (!(await makeOwnFolder(fresh, 0o755))) throw new AppError('TOOL_004', `${fresh} cannot be made`)
    const unpacked = await unpackEnvironment(objects.getStream(key), fresh, { maxBytes: keptBytes, maxEntries })
    await writeFile(join(fresh, describedIn), JSON.stringify(unpacked), { flag: 'wx' })
    await rename(fresh, folder).catch(() => {}) // one is there
  } catch (error) {
    // One with a cause may be this machine's, such as a full disk.
    if (error instanceof AppError && error.code === 'SETUP_001' && error.cause === undefined) refuse(error)
    if (!hasCode(error, 'STORE_003')) throw error
    throw new AppError('SETUP_001', 'what the setup made is not stored any more: retry the run', { cause: error })
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
  await forgetOldest(dir, keptBytes)
}

function surroundings(folder: string, { modules, caches }: z.infer<typeof Described>): Surroundings {
  const mounts = [
    { from: join(folder, environmentParts.environment), to: environmentFolder },
    { from: join(folder, environmentParts.added), to: addedFolder },
    ...modules.map((path) => ({ from: join(folder, environmentParts.modules, path), to: `${workFolder}/${path}` })),
  ]
  const path = `${environmentFolder}/bin:${workFolder}/node_modules/.bin:${programPath}`
  const folders = caches.map((cache) => `${workFolder}/${cache}`)
  return { mounts, folders, environment: { PATH: path, VIRTUAL_ENV: environmentFolder, GOMODCACHE: goModuleCache } }
}

/** Removes those unused for longest while there is too much, and what killed processes have left. */
async function forgetOldest(dir: string, keptBytes: number): Promise<void> {
  const names = await readdir(dir)
  const all = await Promise.all(
    names.map(async (name) => {
      const path = join(dir, name, describedIn)
      const text = await readFile(path, 'utf8').catch(() => '')
      const described = Described.safeParse(parseJson(text)).data
      const stats = await stat(described === undefined ? join(dir, name) : path).catch(() => undefined)
      return { name, bytes: described?.bytes ?? 0, usedAt: stats?.mtimeMs ?? Infinity, isLeft: name.includes('.') }
    }),
  )
  let bytes = all.reduce((sum, one) => sum + one.bytes, 0)
  for (const kept of all.toSorted((a, b) => a.usedAt - b.usedAt)) {
    if (kept.usedAt > Date.now() - usedMs) return
    if (bytes <= keptBytes && !kept.isLeft) continue
    bytes -= kept.bytes
    const gone = join(dir, `${kept.name.split('.')[0]}.${randomUUID()}`)
    await rename(join(dir, kept.name), gone).catch(() => {}) // so that nobody finds half of it
    await rm(gone, { recursive: true, force: true })
  }
}
