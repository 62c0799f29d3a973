import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '#domain/hash.ts'
import { grammarFile, parserVersion } from '#syntax/grammars.ts'
import type { QueryFile } from '../compile-query.ts'

/** The file of a pack that says what a file refers to. It makes no nodes, and a change of it changes none. */
export const referenceFile = 'references.scm'

/** `hash` changes with the query, the grammar, the parser, or the way references are read from matches. */
export type ReferenceFile = QueryFile & { hash: string }

/** Raised whenever the same bytes give other references. */
const referencesVersion = 1

/** The pack's query for references, or undefined when it has none. */
export async function readReferenceFile(pack: {
  language: string
  folder: string
}): Promise<ReferenceFile | undefined> {
  const path = join(pack.folder, referenceFile)
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const grammar = sha256(await readFile(grammarFile(pack.language)))
  return { path, text, hash: sha256(JSON.stringify([referencesVersion, grammar, parserVersion(), text])) }
}
