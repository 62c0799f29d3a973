import { readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { sha256 } from '#domain/hash.ts'
import { grammarFile, grammarVersion, parserVersion } from '#syntax/grammars.ts'
import { readReferenceFile } from './edges/reference-file.ts'
import { type PackManifest, readManifest } from './recorded-manifest.ts'
import type { PackFolder } from './pack-folders.ts'
import { measureQueries, readQueryFiles } from './query-pack.ts'

/** The manifest of a pack folder as it is now. DISC_002 when a file does not compile. */
export async function manifestOf({ language, pack, folder }: PackFolder): Promise<PackManifest> {
  const files = await readQueryFiles(folder)
  const references = await readReferenceFile(folder)
  const hashed = references === undefined ? files : [...files, references]
  return {
    language,
    pack,
    ...(await measureQueries(language, files)),
    files: Object.fromEntries(hashed.map((file) => [basename(file.path), sha256(file.text)])),
    toolchain: {
      grammar: grammarVersion(language),
      grammar_sha256: sha256(await readFile(grammarFile(language))),
      parser: parserVersion(),
    },
  }
}

const lineWidth = 120

/** The text of a manifest file, as the formatter would have it: a list on one line where it fits. */
export function manifestText(manifest: PackManifest): string {
  const text = JSON.stringify(manifest, null, 2)
  const lists = text.replaceAll(/^( *"\w+": )\[\n[^\][{}]*\](,?)$/gm, (lines) => {
    const line = lines.replaceAll(/\n\s+/g, ' ').replace('[ ', '[').replace(/\s+\]/, ']')
    return line.length > lineWidth ? lines : line
  })
  return `${lists}\n`
}

/** How the manifest on disk differs from `current`, one line each; nothing when it is the same. */
export async function manifestFaults(folder: string, current: PackManifest): Promise<string[]> {
  const stored = await readManifest(folder)
  if (stored === 'absent') return [`there is no manifest; ${wayToWriteIt(folder)}`]
  if (stored === 'unreadable') return [`it is not a manifest; ${wayToWriteIt(folder)}`]
  const names = new Set([...Object.keys(stored.files), ...Object.keys(current.files)])
  const differing = [...names].filter((name) => stored.files[name] !== current.files[name])
  const faults = differing.toSorted().map((name) => `${name} is not the file that was recorded`)
  const same = JSON.stringify({ ...stored, files: {} }) === JSON.stringify({ ...current, files: {} })
  if (!same && faults.length === 0) faults.push('it was recorded with other kinds, counts or toolchain versions')
  return faults.map((fault) => `${fault}; when that is meant, ${wayToWriteIt(folder)}`)
}

function wayToWriteIt(folder: string): string {
  return `write it with "remora queries manifest --dir ${dirname(dirname(folder))}"`
}
