import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { sha256 } from '#domain/ids.ts'
import { makeFolder } from '#platform/own-file.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { RepositoryFacts } from '#languages/python/repository-facts.ts'
import { indexVersion, type QueryPack } from './query-pack.ts'
import type { Reference } from './edges/find-references.ts'
import { type ContentMark, markReasons } from './unwanted/unwanted-content.ts'

export type IndexFile = KnownFiles & {
  /** Stores what was found in files that still exist. Never fails: what cannot be stored is found again next time. */
  save(): Promise<void>
}

/** `state` changes with the file; `text` is what was found in it, as JSON. */
type Entry = { state: string; pack: string; references: string; text: string }

const keptMs = 30 * 86_400_000

/** Opens the index of a tree in the folder `dir`. `states` has a value for each path that changes with its content; others are not stored. */
export async function indexIn(
  dir: string | undefined,
  tree: string,
  states: ReadonlyMap<string, string>,
): Promise<IndexFile | undefined> {
  if (dir === undefined) return undefined
  const file = join(dir, sha256(tree))
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
      // a full disk, or a folder of another user
    }
  }

  return { get, put, save }
}

/** The first line has the hash of the rest, so the rest needs no other check. */
function headOf(body: string | Uint8Array): string {
  return `remora node index ${indexVersion} ${sha256(body)}`
}

/** An entry has two lines, the second of which is parsed when it is needed. A file that is not intact gives no entries. */
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

/** Writes a temporary file and renames it, so that readers see the old file or the new one. */
async function writeEntries(file: string, entries: ReadonlyMap<string, Entry>): Promise<void> {
  let body = ''
  for (const [path, { text, state, pack, references }] of entries)
    body += `${JSON.stringify([path, state, pack, references])}\n${text}\n`
  await makeFolder(dirname(file), 0o700)
  const fresh = join(dirname(file), `.${basename(file)}.${process.pid}`)
  try {
    const bytes = Buffer.from(body)
    await writeFile(fresh, [`${headOf(bytes)}\n`, bytes], { mode: 0o600 })
    await rename(fresh, file)
  } finally {
    await rm(fresh, { force: true })
  }
}

/** Deletes the files of trees that were not used for a month, and temporary files of killed processes. */
async function forgetUnused(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const stats = await stat(path).catch(() => undefined)
    if (stats?.isFile() === true && Date.now() - stats.mtimeMs > keptMs) await rm(path, { force: true })
  }
}

export type FoundFile = ReadFile | { skipped: string; marks?: ContentMark[] | undefined }

export type ReadFile = {
  nodes: readonly CodeNode[]
  /** Names what does not parse: the qualified names of the definitions that contain it, which are not nodes; else the first line. */
  broken: readonly string[]
  references: readonly Reference[]
  facts?: RepositoryFacts | undefined
  marks?: ContentMark[] | undefined
}

export type KnownFiles = {
  get(path: string, pack: QueryPack | undefined): FoundFile | undefined
  put(path: string, pack: QueryPack | undefined, found: FoundFile): void
}

/** Is true when all marks for which a content was skipped are allowed now, so that it must be read. */
export function isToBeRead(found: { marks?: ContentMark[] | undefined }, admitted: readonly ContentMark[]): boolean {
  const { marks = [] } = found
  return 'skipped' in found && marks.length > 0 && marks.every((mark) => admitted.includes(mark))
}

/** Returns the file when these marks are allowed; a file with any other mark is skipped. */
export function asAdmitted(file: FoundFile, admitted: readonly ContentMark[]): FoundFile {
  const refused = file.marks?.find((mark) => !admitted.includes(mark))
  return refused === undefined ? file : { skipped: markReasons[refused], marks: file.marks }
}

type Row = readonly [
  nodeId: string,
  kind: string,
  name: string,
  qualifiedName: string,
  parentId: string | null,
  startLine: number,
  endLine: number,
  startByte: number,
  endByte: number,
  hash: string,
]

type Rows = Omit<ReadFile, 'nodes'> & { language: string; rows: readonly Row[] }

/** Writes a file as JSON without the names of a node's fields, which would be half of it. */
function foundFileText(found: FoundFile): string {
  if ('skipped' in found) return JSON.stringify(found)
  const { nodes, ...rest } = found
  const rows: Rows = { ...rest, language: nodes[0]?.language ?? '', rows: nodes.map(rowOf) }
  return JSON.stringify(rows)
}

function parseFoundFile(path: string, text: string): FoundFile {
  const read: Rows | Extract<FoundFile, { skipped: string }> = JSON.parse(text)
  if ('skipped' in read) return read
  const { rows, language, ...rest } = read
  return { ...rest, nodes: rows.map((row) => nodeOf(row, path, language)) }
}

function rowOf(node: CodeNode): Row {
  const { nodeId, kind, name, qualifiedName, parentId, startLine, endLine, startByte, endByte, hash } = node
  return [nodeId, kind, name, qualifiedName, parentId, startLine, endLine, startByte, endByte, hash]
}

function nodeOf(row: Row, path: string, language: string): CodeNode {
  const [nodeId, kind, name, qualifiedName, parentId, startLine, endLine, startByte, endByte, hash] = row
  return { nodeId, kind, name, qualifiedName, path, language, startLine, endLine, startByte, endByte, parentId, hash }
}
