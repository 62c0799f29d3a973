import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '#domain/error.ts'
import { nearest } from '#platform/nearest.ts'

/** The only bundle whose prompt fits the tools of `remora harness`. It does nothing for a repository. */
export const harnessAgent = 'harness'

/** Is the folder of the bundles that come with Remora. */
export const shippedAgents = fileURLToPath(new URL('../agents', import.meta.url))

/** Returns the folder of each bundle by its name, sorted; one in `dir` replaces a shipped one. CONFIG_001 when `dir` cannot be read. */
export async function agentFolders(dir: string | undefined): Promise<Map<string, string>> {
  const own = dir === undefined ? [] : await bundleFolders(dir)
  const folders = new Map([...(await bundleFolders(shippedAgents)), ...own].map((folder) => [basename(folder), folder]))
  return new Map([...folders].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

export async function agentNames(dir: string | undefined): Promise<string[]> {
  return [...(await agentFolders(dir)).keys()]
}

/** Says which of the agents are not known, and what was probably meant; undefined when all are known. */
export function unknownAgents(agents: readonly string[], known: readonly string[]): string | undefined {
  const unknown = [...new Set(agents)].filter((agent) => !known.includes(agent))
  if (unknown.length === 0) return undefined
  const near = [...new Set(unknown.flatMap((agent) => nearest(agent, known) ?? []))]
  const meant = near.length === 0 ? '' : ` (did you mean ${near.join(', ')}?)`
  return `unknown agent: ${unknown.join(', ')}${meant}; known: ${known.join(', ')}`
}

/** The folders under `dir` that hold a `bundle.yaml`, sorted. CONFIG_001 when `dir` cannot be read. */
export async function bundleFolders(dir: string): Promise<string[]> {
  try {
    const files = await readdir(dir, { withFileTypes: true })
    const folders = files.filter((entry) => entry.isDirectory()).map((entry) => join(dir, entry.name))
    // A folder that cannot be read counts as a bundle, so that loading it reports the reason.
    const names = await Promise.all(folders.map((folder) => readdir(folder).catch(() => ['bundle.yaml'])))
    return folders.filter((_folder, at) => names[at]?.includes('bundle.yaml')).toSorted()
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    const setting = 'the setting agents.dir (REMORA_AGENTS_DIR)'
    const words: Readonly<Record<string, string>> = {
      ENOENT: `there is no folder ${dir}: make it, or mend ${setting}`,
      ENOTDIR: `${dir} is not a folder: mend ${setting}`,
    }
    const other = `the folder ${dir}, which ${setting} names, cannot be read${code && ` (${code})`}`
    throw new AppError('CONFIG_001', words[code] ?? other, { cause })
  }
}

type ReadSource = { source: string } | { fault: string; isMissing: boolean }

const missing = 'there is no such file'

const faults: Readonly<Record<string, string>> = {
  ENOENT: missing,
  ENOTDIR: missing,
  EISDIR: 'it is a folder',
  EACCES: 'it cannot be read: permission denied',
  EPERM: 'it cannot be read: permission denied',
  ELOOP: 'it is a link to itself',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'it is not UTF-8 text',
}

/** Reads a UTF-8 text file. Never throws, and does not wait for the writer of a pipe. */
export async function readSource(path: string): Promise<ReadSource> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = await file.stat()
    if (stats.isDirectory()) return failed('it is a folder')
    if (!stats.isFile()) return failed('it is no file')
    return { source: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.readFile()) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return failed(faults[code] ?? `it cannot be read: ${code || String(error)}`)
  }
}

function failed(fault: string): ReadSource {
  return { fault, isMissing: fault === missing }
}

/** The `.pym` files in a folder and its subfolders, sorted. Ignores links and unreadable folders. */
export async function scriptsUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const scripts: string[] = []
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) scripts.push(...(await scriptsUnder(path)))
    else if (entry.name.endsWith('.pym')) scripts.push(path)
  }
  return scripts.toSorted()
}
