import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '#domain/hash.ts'
import { parserVersion } from '#syntax/grammars.ts'
import type { QueryFile } from '../compile-query.ts'

/** The file of a pack that says what a file refers to. It makes no nodes, and a change of it changes none. */
export const referenceFile = 'references.scm'

/** `hash` changes with the query, the grammar, the parser, or the way references are read from matches. */
export type ReferenceFile = QueryFile & { hash: string }

/** Raised whenever the same bytes give other references. */
const referencesVersion = 1

/** The pack's query for references, or undefined when it has none. */
export async function readReferenceFile(folder: string): Promise<QueryFile | undefined> {
  const path = join(folder, referenceFile)
  const text = await readFile(path, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : { path, text }
}

export function hashReferenceFile(file: QueryFile, grammarHash: string): ReferenceFile {
  return { ...file, hash: sha256(JSON.stringify([referencesVersion, grammarHash, parserVersion(), file.text])) }
}
