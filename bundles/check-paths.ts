import { stat } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { readKnownExternals } from '#tool-scripts/external-signatures.ts'
import { type BundleFault, readBundleYaml } from './bundle-yaml.ts'
import { checkScriptFile, type CheckedScript } from './check-script-file.ts'
import { findFolderFaults } from './load-bundle.ts'
import { readBundle, type BundleDeps, type ReadBundle } from './read-bundle.ts'
import { agentFolders, bundleFolders, readSource, scriptsUnder } from './bundle-files.ts'

export type BundleDiagnostic = BundleFault & { severity: 'error' | 'warning'; source?: string }

/** Describes a bundle, a script, or a path that is neither. `tools` and `maxTurns` are set for a bundle that could be read. */
export type CheckedItem = {
  kind: 'bundle' | 'script' | 'path'
  path: string
  name: string
  tools?: number
  maxTurns?: number
  diagnostics: BundleDiagnostic[]
  scripts: CheckedScript[]
}

/** Checks bundles, and `.pym` files that no bundle names, in the order of the paths. What is missing or broken gets a diagnostic. */
export async function checkPaths(
  paths: readonly string[],
  options: Omit<BundleDeps, 'knownExternals'>,
): Promise<CheckedItem[]> {
  const deps = { knownExternals: await readKnownExternals(), ...options }
  const checked: CheckedItem[] = []
  for (const path of paths) checked.push(...(await checkPath(path, deps)))
  for (const item of checked) await addSourceLines(item)
  return checked
}

async function checkPath(path: string, deps: BundleDeps): Promise<CheckedItem[]> {
  const kind = await kindOf(path)
  if (kind === 'missing') return [neither(path, 'there is no such file or folder')]
  if (kind === 'file')
    return [
      path.endsWith('.pym')
        ? await scriptItem(path, deps)
        : neither(path, 'it is no .pym file; of a bundle, name the folder'),
    ]
  const isBundle = (await kindOf(join(path, 'bundle.yaml'))) === 'file'
  const folders = isBundle ? [path] : await bundleFolders(path)
  const bundles: ReadBundle[] = []
  for (const folder of folders) bundles.push(await readBundle(folder, deps))
  const together = isBundle ? [] : findFolderFaults(bundles, await shippedBundles())
  const named = new Set(bundles.flatMap(scriptsOf))
  const others = (await scriptsUnder(path)).filter((script) => !named.has(normalize(script)))
  const items = bundles.map((bundle) => bundleItem(bundle, together))
  for (const script of others) items.push(await scriptItem(script, deps))
  return items.length === 0 ? [neither(path, 'it holds no bundle and no .pym file')] : items
}

async function shippedBundles(): Promise<Pick<ReadBundle, 'file'>[]> {
  const folders = [...(await agentFolders(undefined)).values()]
  return Promise.all(
    folders.map(async (folder) => {
      const path = join(folder, 'bundle.yaml')
      const read = await readSource(path)
      return readBundleYaml(path, 'source' in read ? read.source : '')
    }),
  )
}

function scriptsOf({ dir, file }: ReadBundle): string[] {
  return (file?.tools ?? []).flatMap((tool) => ('script' in tool ? [normalize(join(dir, tool.script))] : []))
}

function bundleItem(read: ReadBundle, together: readonly BundleFault[]): CheckedItem {
  const own = together.filter(({ file }) => file === join(read.dir, 'bundle.yaml'))
  const diagnostics = [
    ...[...read.faults, ...own].map((fault) => ({ ...fault, severity: 'error' as const })),
    ...read.warnings.map((warning) => ({ ...warning, severity: 'warning' as const })),
  ]
  const name = read.file?.name ?? read.dir
  const size = read.file === undefined ? {} : { tools: read.file.tools.length, maxTurns: read.file.limits.max_turns }
  return { kind: 'bundle', path: read.dir, name, ...size, diagnostics, scripts: read.scripts }
}

async function scriptItem(path: string, deps: BundleDeps): Promise<CheckedItem> {
  const script = await checkScriptFile(path, deps)
  if ('fault' in script) return { ...neither(path, script.fault), kind: 'script' }
  const diagnostics = script.faults.map((fault) => ({ file: path, ...fault }))
  return { kind: 'script', path, name: path, diagnostics, scripts: [script] }
}

function neither(path: string, message: string): CheckedItem {
  const diagnostic = { file: path, line: 1, column: 1, code: 'AGENT_001', severity: 'error' as const, message }
  return { kind: 'path', path, name: path, diagnostics: [diagnostic], scripts: [] }
}

async function addSourceLines(item: CheckedItem): Promise<void> {
  for (const [file, diagnostics] of Map.groupBy(item.diagnostics, (diagnostic) => diagnostic.file)) {
    const read = await readSource(file)
    const lines = 'source' in read ? read.source.replace(/^\uFEFF/, '').split(/\r\n?|\n/) : []
    for (const diagnostic of diagnostics) {
      const source = lines[diagnostic.line - 1]
      if (source !== undefined) diagnostic.source = source
    }
  }
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'missing'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file'
  } catch {
    return 'missing'
  }
}
