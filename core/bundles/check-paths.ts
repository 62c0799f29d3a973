import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { checkScript } from '#tool-scripts/check-script.ts'
import { hostExternals } from '#tool-scripts/host-externals.ts'
import type { BundleFault } from './bundle-fault.ts'
import { bundleFolders, findFolderFaults } from './load-bundle.ts'
import { readBundle, type BundleDeps, type ReadBundle } from './read-bundle.ts'

/** One fault or warning, with the line of the file it is about. */
export type Finding = BundleFault & { severity: 'error' | 'warning'; source?: string }

/** A bundle, a script, or a path that is neither. `tools` and `maxTurns` are there for a bundle that could be read. */
export type CheckedItem = {
  kind: 'bundle' | 'script' | 'path'
  path: string
  name: string
  tools?: number
  maxTurns?: number
  findings: Finding[]
}

/** Checks everything under the paths, in their order. A file that is missing or broken is a finding, never an error. */
export async function checkPaths(paths: readonly string[]): Promise<CheckedItem[]> {
  const deps = { knownExternals: await hostExternals(), typeCheck: true }
  const checked: CheckedItem[] = []
  for (const path of paths) checked.push(...(await checkPath(path, deps)))
  for (const item of checked) await addSourceLines(item)
  return checked
}

async function checkPath(path: string, deps: BundleDeps): Promise<CheckedItem[]> {
  const kind = await kindOf(path)
  if (kind === 'file')
    return [path.endsWith('.pym') ? await checkScriptFile(path, deps) : neither(path, 'it is no .pym file')]
  if (kind === 'missing') return [neither(path, 'there is no such file or folder')]
  if ((await kindOf(join(path, 'bundle.yaml'))) === 'file') return [bundleItem(await readBundle(path, deps), [])]
  const folders = await bundleFolders(path)
  if (folders.length === 0) return [neither(path, 'it holds no bundle')]
  const read = await Promise.all(folders.map((folder) => readBundle(folder, deps)))
  const together = findFolderFaults(read)
  return read.map((bundle) => bundleItem(bundle, together))
}

function bundleItem(read: ReadBundle, together: readonly BundleFault[]): CheckedItem {
  const own = together.filter(({ file }) => file === join(read.dir, 'bundle.yaml'))
  const findings = [
    ...[...read.faults, ...own].map((fault) => ({ ...fault, severity: 'error' as const })),
    ...read.warnings.map((warning) => ({ ...warning, severity: 'warning' as const })),
  ]
  const name = read.file?.name ?? read.dir
  const size = read.file === undefined ? {} : { tools: read.file.tools.length, maxTurns: read.file.limits.max_turns }
  return { kind: 'bundle', path: read.dir, name, ...size, findings }
}

async function checkScriptFile(path: string, deps: BundleDeps): Promise<CheckedItem> {
  const { faults } = await checkScript(await readFile(path, 'utf8'), path, deps)
  return { kind: 'script', path, name: path, findings: faults.map((fault) => ({ file: path, ...fault })) }
}

function neither(path: string, message: string): CheckedItem {
  const finding = { file: path, line: 1, column: 1, code: 'AGENT_001', severity: 'error' as const, message }
  return { kind: 'path', path, name: path, findings: [finding] }
}

async function addSourceLines(item: CheckedItem): Promise<void> {
  for (const found of item.findings) {
    if ((await kindOf(found.file)) !== 'file') continue
    const source = (await readFile(found.file, 'utf8')).split('\n')[found.line - 1]
    if (source !== undefined) found.source = source
  }
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'missing'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file'
  } catch {
    return 'missing'
  }
}
