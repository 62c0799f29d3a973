import { join } from 'node:path/posix'
import { faultOfGlobs, pathGlobs } from '#domain/path-globs.ts'
import { folderOf } from '#domain/repo-path.ts'
import { parseJsonWithComments } from '#platform/json-with-comments.ts'
import { readYaml } from '#platform/yaml-source.ts'
import {
  type ConfigFile,
  isProgram,
  isScriptConfig,
  isYaml,
  stringsOf,
  type Table,
  tableAt,
  within,
} from './config-tree.ts'
import type { PathTest } from './file-patterns.ts'

/** Settings for some of the files below a configuration's folder; `rules` have oxlint's names. */
export type ScriptPart = {
  isMeant: PathTest
  rules: Table
  plugins?: readonly string[]
  categories?: Table | undefined
  env?: Table | undefined
  globals?: Table | undefined
  settings?: Table | undefined
}

/** One configuration of a linter for JavaScript; of the parts that are meant for a file, the later ones win. */
export type ScriptConfig = { source: string; parts: readonly ScriptPart[]; isIgnored: PathTest }

export type ScriptSources = {
  tree: ScriptTree
  /** Returns the name of a rule in oxlint's configuration; undefined for one that it lacks, or that would need other files or types. */
  nameOfRule(name: string): string | undefined
  /** Lists the rules of ESLint's own or typescript-eslint's `recommended`. */
  recommended: Record<'eslint' | 'typescript', readonly string[]>
  notice(words: string): void
}

export type ScriptTree = ReturnType<typeof readScriptTree>

/** Parses the configurations. One that cannot be parsed is left out, with a notice if it is in one of `folders`. */
export function readScriptTree(
  files: readonly ConfigFile[],
  folders: ReadonlySet<string>,
  notice: (words: string) => void,
) {
  const texts = new Map(files.filter(({ path }) => isScriptConfig(path)).map(({ path, text }) => [path, text]))
  const tables = new Map<string, Table>()
  const table = (path: string): Table | undefined => {
    const known = tables.get(path)
    const text = texts.get(path)
    if (known !== undefined || text === undefined || isProgram(path)) return known
    try {
      const read = tableAt(isYaml(path) ? parseYaml(text) : parseJson(path, text)) ?? {}
      tables.set(path, read)
      return read
    } catch (error) {
      const [fault = ''] = String(error instanceof Error ? error.message : error).split('\n')
      if (folders.has(folderOf(path))) notice(`${path} cannot be read and is passed over: ${fault}`)
      texts.delete(path)
      return undefined
    }
  }
  return {
    table,
    /** Returns the first file of these names in a folder that has a table. */
    firstIn(folder: string, names: readonly string[]): { path: string; table: Table } | undefined {
      for (const path of names.map((name) => within(folder, name))) {
        const found = table(path)
        if (found !== undefined) return { path, table: found }
      }
      return undefined
    },
    has: (path: string) => texts.has(path),
    text: (path: string) => texts.get(path),
  }
}

/** Reads a file without an ending also as YAML. */
function parseJson(path: string, text: string): unknown {
  try {
    return parseJsonWithComments(text)
  } catch (error) {
    if (/\.(?:jsonc?|json5)$/.test(path)) throw error
    return parseYaml(text)
  }
}

function parseYaml(text: string): unknown {
  const { value, faults } = readYaml(text)
  const [fault] = faults
  if (fault !== undefined) throw new SyntaxError(`line ${fault.at.line}: ${fault.message}`)
  return value
}

/** Tests paths by patterns relative to `folder`; one without a slash matches names in any folder. Notices those that cannot be read. */
export function patternTest(
  patterns: unknown,
  { folder, source, notice }: { folder: string; source: string; notice(words: string): void },
): PathTest {
  const wanted = (typeof patterns === 'string' ? [patterns] : stringsOf(patterns)).map((pattern) => {
    const short = pattern.replace(/^\.\//, '')
    return short.includes('/') ? short.replace(/^\//, '') : `**/${short}`
  })
  const fault = faultOfGlobs(wanted)
  if (fault !== undefined) notice(`${source}: a pattern of files is passed over: ${fault}`)
  const isMatch = fault === undefined && wanted.length > 0 ? pathGlobs(wanted) : () => false
  const top = within(folder, '')
  return (path) => path.startsWith(top) && isMatch(path.slice(top.length))
}

const maxParts = 200

/**
 * Tells whether there is room for another part of the configuration at `source`, and notices once where there is none: files that
 * extend each other in many ways may have any number of parts.
 */
export function openPartLimit(source: string, notice: (words: string) => void): () => boolean {
  let parts = 0
  return () => {
    parts += 1
    if (parts === maxParts + 1)
      notice(`${source} has more than ${maxParts} parts with those that it extends: the others are left out`)
    return parts <= maxParts
  }
}

/** Is true when the file at `found`, which the last of the `open` ones extends, leads back to itself; notices that. */
export function isCircular(found: string, open: readonly string[], notice: (words: string) => void): boolean {
  if (!open.includes(found)) return false
  notice(`${open.at(-1)}: "extends" leads back to ${found}, which is not read again`)
  return true
}

export const ofAll: PathTest = () => true
export const ofNone: PathTest = () => false

/** Returns the path that `extends: './base.json'` means; undefined for a package or a path that leads out of the snapshot. */
export function extendedPath(from: string, target: string): string | undefined {
  if (!target.startsWith('.')) return undefined
  const path = join(folderOf(from), target)
  return /^\.\.(?:\/|$)/.test(path) ? undefined : path.replace(/\/$/, '')
}
