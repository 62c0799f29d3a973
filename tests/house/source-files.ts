import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSource, type ParsedSource } from './parse-source.ts'

/** The repository's root, with a slash at the end. */
export const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url))

const sourceFolders = ['core', 'services', 'cli', 'bench', 'scripts', 'tests']
const sourceEndings = /\.(?:ts|tsx|mts|mjs|js)$/
const skippedFolders = new Set(['node_modules', 'raw', 'fixtures'])

/** Every file of our own code, as paths from the root, sorted. Folders that are not there yet count as empty. */
function listSourceFiles(): string[] {
  const paths = sourceFolders.flatMap((folder) => filesUnder(folder, (name) => sourceEndings.test(name)))
  return [...paths, 'vitest.config.ts'].toSorted()
}

/**
 * The files below `folder` whose name passes, as paths from the root; `node_modules`, `raw` and `fixtures` are left
 * out.
 */
export function filesUnder(folder: string, wanted: (name: string) => boolean): string[] {
  const found: string[] = []
  for (const entry of readFolder(folder)) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) {
      if (!skippedFolders.has(entry.name)) found.push(...filesUnder(path, wanted))
    } else if (wanted(entry.name)) found.push(path)
  }
  return found
}

function readFolder(folder: string) {
  try {
    return readdirSync(join(repositoryRoot, folder), { withFileTypes: true })
  } catch {
    return []
  }
}

export function readRepositoryFile(path: string): string {
  return readFileSync(join(repositoryRoot, path), 'utf8')
}

/** All our own code, parsed. */
export function parseRepository(): ParsedSource[] {
  return listSourceFiles().map((path) => parseSource(path, readRepositoryFile(path)))
}

/** Tests, what only tests import (`x.fixture.ts`), and everything in `tests/`. */
export function isTestFile(path: string): boolean {
  return /\.(?:test|fixture)\.ts$/.test(path) || path.startsWith('tests/')
}
