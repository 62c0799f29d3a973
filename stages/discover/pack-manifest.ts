import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { sha256 } from '#domain/ids.ts'
import { grammarVersion, parserVersion } from '#languages/syntax/grammars.ts'
import type { QueryFile } from './compile-query.ts'
import { referenceFile } from './edges/reference-file.ts'

export const manifestFile = 'manifest.json'

/** `manifest.json` of a pack: what its queries were checked against. Keys keep the file's own spelling. */
export const PackManifest = z.strictObject({
  language: z.string(),
  pack: z.string(),
  kinds: z.array(z.string()),
  /** Count patterns, and captures named in them, over all files. */
  queries: z.int(),
  captures: z.int(),
  /** Has the SHA-256 of every `.scm` file, by file name. */
  files: z.record(z.string(), z.string()),
  toolchain: z.strictObject({ grammar: z.string(), grammar_sha256: z.string(), parser: z.string() }),
})
export type PackManifest = z.infer<typeof PackManifest>

export async function readManifest(folder: string): Promise<PackManifest | 'absent' | 'unreadable'> {
  const text = await readFile(join(folder, manifestFile), 'utf8').catch(() => undefined)
  if (text === undefined) return 'absent'
  return PackManifest.safeParse(parseJson(text)).data ?? 'unreadable'
}

/**
 * The manifest of a pack, if it was recorded of these very files with this grammar and parser: they compiled then, and
 * loading twenty grammars to be sure again takes seconds at every start.
 */
export async function manifestStillTrue(
  { language, folder }: { language: string; folder: string },
  files: readonly QueryFile[],
): Promise<PackManifest | undefined> {
  const manifest = await readManifest(folder)
  if (typeof manifest === 'string' || manifest.language !== language) return undefined
  const { grammar, parser } = manifest.toolchain
  if (grammar !== grammarVersion(language) || parser !== parserVersion()) return undefined
  const recorded = Object.keys(manifest.files).filter((name) => name !== referenceFile)
  const sameFiles =
    files.length === recorded.length && files.every(({ path, text }) => manifest.files[basename(path)] === sha256(text))
  return sameFiles ? manifest : undefined
}
