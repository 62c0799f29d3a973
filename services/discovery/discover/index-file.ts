import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { sha256 } from '#domain/hash.ts'
import { type FoundFile, foundFileText, type KnownFiles, parseFoundFile } from './found-file.ts'
import { indexVersion, type QueryPack } from './query-pack.ts'

/** What discovery found in one tree, kept in a file until the next discovery of it. */
export type IndexFile = KnownFiles & {
  /**
   * Keeps what was found in files that are still there. An index that cannot be written is no fault of the discovery:
   * what is not kept is found again.
   */
  save(): Promise<void>
}

/** `state` tells whether the file is still what it was; `text` is what was found in it, as JSON. */
type Entry = { state: string; pack: string; references: string; text: string }

const dayMs = 86_400_000
const keptDays = 30

/** The index file in `dir` of a tree, which `tree` names as no other is named. */
export function indexPath(dir: string, tree: string): string {
  return join(dir, sha256(tree))
}

/**
 * Reads `file`, if an earlier discovery left it. `states` has every path of the tree with what is another when its
 * content is; what is not there is neither known nor kept. What was found with references also serves a discovery that
 * asks for none.
 */
export async function openIndexFile(file: string, states: ReadonlyMap<string, string>): Promise<IndexFile> {
  const read = await readEntries(file)
  const entries = new Map([...read].filter(([path, { state }]) => states.get(path) === state))
  let changed = entries.size < read.size

  function get(path: string, pack: QueryPack | undefined): FoundFile | undefined {
    const entry = entries.get(path)
    if (entry?.pack !== (pack?.hash ?? '')) return undefined
    if (pack?.references !== undefined && entry.references !== pack.references.hash) return undefined
    return parseFoundFile(path, entry.text)
  }

  function put(path: string, pack: QueryPack | undefined, found: FoundFile): void {
    const state = states.get(path)
    if (state === undefined) return
    const made = { pack: pack?.hash ?? '', references: pack?.references?.hash ?? '' }
    entries.set(path, { state, ...made, text: foundFileText(found) })
    changed = true
  }

  async function save(): Promise<void> {
    try {
      if (!changed) return await utimes(file, new Date(), new Date())
      await writeEntries(file, entries)
      await forgetUnused(dirname(file))
    } catch {
      // a full disk, a folder of somebody else's
    }
  }

  return { get, put, save }
}

/** The first line vouches for the rest, which is why the rest needs no other check. */
function headOf(body: string): string {
  return `remora node index ${indexVersion} ${sha256(body)}`
}

/** Two lines an entry, the second being what was found, which is parsed when it is asked for. None unless the file is whole. */
async function readEntries(file: string): Promise<Map<string, Entry>> {
  const content = await readFile(file, 'utf8').catch(() => '')
  const end = content.indexOf('\n')
  const body = content.slice(end + 1)
  const entries = new Map<string, Entry>()
  if (end < 0 || content.slice(0, end) !== headOf(body)) return entries
  const lines = body.split('\n')
  for (let at = 0; at + 1 < lines.length; at += 2) {
    const [path, state, pack, references]: [string, string, string, string] = JSON.parse(lines[at] ?? '')
    entries.set(path, { state, pack, references, text: lines[at + 1] ?? '' })
  }
  return entries
}

/** Written beside the file and then moved there: whoever reads meets the old one or the new one. */
async function writeEntries(file: string, entries: ReadonlyMap<string, Entry>): Promise<void> {
  const lines = Array.from(
    entries,
    ([path, { text, state, pack, references }]) => `${JSON.stringify([path, state, pack, references])}\n${text}\n`,
  )
  const body = lines.join('')
  await makeFolder(dirname(file))
  const fresh = join(dirname(file), `.${basename(file)}.${process.pid}`)
  try {
    await writeFile(fresh, `${headOf(body)}\n${body}`, { mode: 0o600 })
    await rename(fresh, file)
  } finally {
    await rm(fresh, { force: true })
  }
}

/** As a recursive mkdir does, which Node never ends below a folder such as /proc that says a new one's parent is absent. */
async function makeFolder(path: string): Promise<void> {
  const make = () => mkdir(path, { mode: 0o700 })
  await make().catch(async (error: unknown) => {
    if (existsSync(path)) return
    if (dirname(path) === path || existsSync(dirname(path))) throw error
    await makeFolder(dirname(path))
    await make()
  })
}

/** Trees that nobody looked into for a month, and what a killed process had not yet moved. */
async function forgetUnused(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const stats = await stat(path).catch(() => undefined)
    if (stats?.isFile() === true && Date.now() - stats.mtimeMs > keptDays * dayMs) await rm(path, { force: true })
  }
}
