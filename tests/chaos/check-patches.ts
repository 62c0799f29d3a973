import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { RunId } from '#domain/ids.ts'
import { sourceFolder, type SourceFolder } from '../e2e/source-folder.ts'
import type { GeneratedSource } from './generated-source.ts'
import { lacks } from '#testing/this-machine.ts'

const execute = promisify(execFile)

const parseAll = `
import ast, pathlib, sys
for folder in sys.argv[1:]:
    for path in pathlib.Path(folder).rglob("*.py"):
        ast.parse(path.read_bytes(), str(path))
`

/** Applies every run's patch to a copy of the source where there is git, and parses what came of it where there is Python. */
export async function checkPatches(
  source: GeneratedSource,
  patches: readonly { runId: RunId; patch: string }[],
): Promise<string[]> {
  if (lacks('git')) return []
  const folders: SourceFolder[] = []
  try {
    const violations: string[] = []
    for (const { runId, patch } of patches) {
      if (patch === '') continue
      const folder = await sourceFolder(source)
      folders.push(folder)
      await folder.apply(patch).catch((error: unknown) => violations.push(`run ${runId}: git apply: ${String(error)}`))
    }
    return [...violations, ...(await parseWithPython(folders))]
  } finally {
    await Promise.all(folders.map((folder) => folder.remove()))
  }
}

async function parseWithPython(folders: readonly SourceFolder[]): Promise<string[]> {
  if (folders.length === 0 || lacks('python3')) return []
  try {
    await execute('python3', ['-c', parseAll, ...folders.map(({ path }) => path)])
    return []
  } catch (error) {
    return [`the patched source does not parse: ${String(error).slice(-500)}`]
  }
}
