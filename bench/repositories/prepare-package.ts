import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pyrightVersion, ruffVersion, type BenchPackage } from './bench-packages.ts'
import { runCommand, type Command } from './run-command.ts'

/** A package that is ready to be checked. Nothing runs in `tree`: it stays as the sdist has it. */
export type PreparedPackage = {
  tree: string
  python: string
  /** Pyright as a program of Node. */
  pyright: string
  /** Where runs, copies and results of this package go. */
  work: string
  /** Changes with the sdist, the requirements and the tools: what was measured under another one is measured again. */
  key: string
}

const repository = fileURLToPath(new URL('../../', import.meta.url))
const installLimitMs = 15 * 60_000

/** `REMORA_BENCH_REPOSITORIES_DIR`, else the user's cache; never in the repository. */
export function cacheFolder(): string {
  const chosen = process.env['REMORA_BENCH_REPOSITORIES_DIR'] ?? join(homedir(), '.cache', 'remora-bench-repositories')
  const folder = resolve(chosen)
  if (`${folder}/`.startsWith(repository)) throw new Error(`${folder} must be outside of ${repository}`)
  return folder
}

/** Downloads, verifies and unpacks the sdist and installs its virtual environment: what is there already is taken. */
export async function preparePackage(one: BenchPackage, cache: string): Promise<PreparedPackage> {
  const folders = ['venvs', 'tools', `work/${one.name}`]
  for (const folder of folders) await mkdir(join(cache, folder), { recursive: true })
  const { sdist, tree } = await unpackedPackage(one, cache)
  const requirements = fileURLToPath(new URL(`requirements/${one.name}.txt`, import.meta.url))
  const tools = [`ruff==${ruffVersion}`]
  const key = shortHash([one.sha256, await readFile(requirements, 'utf8'), ...tools, pyrightVersion])
  const python = await installEnvironment(join(cache, 'venvs', `${one.name}-${key}`), [sdist, ...tools], requirements)
  const usesPyright = one.types.some(({ tool }) => tool === 'pyright')
  const pyright = join(cache, 'tools', `pyright-${pyrightVersion}`, 'node_modules/pyright/index.js')
  if (usesPyright && !existsSync(pyright)) await installPyright(cache)
  return { tree, python, pyright, work: join(cache, 'work', one.name), key }
}

/** Its files as the sdist has them, and nothing installed. */
export async function unpackedPackage(one: BenchPackage, cache: string): Promise<{ sdist: string; tree: string }> {
  for (const folder of ['sdists', 'trees', 'log']) await mkdir(join(cache, folder), { recursive: true })
  const sdist = await fetchSdist(one, cache)
  return { sdist, tree: await unpackSdist(one, sdist, cache) }
}

export function shortHash(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 12)
}

/** By pip itself, as this machine has it set up. It builds the package's metadata on the way. */
async function fetchSdist(one: BenchPackage, cache: string): Promise<string> {
  const file = join(cache, 'sdists', `${one.name}-${one.version}.tar.gz`)
  if (!existsSync(file)) {
    const what = ['--no-deps', '--no-binary', one.name, '--dest', join(cache, 'sdists'), `${one.name}==${one.version}`]
    await runOrThrow(['python3', '-m', 'pip', 'download', '--quiet', ...what], join(cache, 'log', `${one.name}-fetch`))
  }
  const found = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
  if (found !== one.sha256) throw new Error(`${file} has sha256 ${found}, not ${one.sha256}`)
  return file
}

async function unpackSdist(one: BenchPackage, sdist: string, cache: string): Promise<string> {
  const tree = join(cache, 'trees', `${one.name}-${one.version}`)
  if (existsSync(tree)) return tree
  const fresh = join(cache, 'trees', `.unpacking-${one.name}`)
  await rm(fresh, { recursive: true, force: true })
  await mkdir(fresh)
  await runOrThrow(
    ['tar', '-xzf', sdist, '-C', fresh, '--strip-components=1'],
    join(cache, 'log', `${one.name}-unpack`),
  )
  await rename(fresh, tree)
  return tree
}

async function installEnvironment(folder: string, packages: readonly string[], requirements: string): Promise<string> {
  const python = join(folder, 'bin', 'python')
  const complete = join(folder, 'complete')
  if (existsSync(complete)) return python
  await rm(folder, { recursive: true, force: true })
  console.log(`installing ${folder}`)
  await runOrThrow(['python3', '-m', 'venv', folder], `${folder}.log`)
  await runOrThrow([python, '-m', 'pip', 'install', '--quiet', '-r', requirements, ...packages], `${folder}.log`)
  await writeFile(complete, '')
  return python
}

async function installPyright(cache: string): Promise<void> {
  const folder = join(cache, 'tools', `pyright-${pyrightVersion}`)
  await mkdir(folder, { recursive: true })
  await runOrThrow(['npm', 'install', '--silent', '--prefix', folder, `pyright@${pyrightVersion}`], `${folder}.log`)
}

/** With this process's own environment: installers are set up by it. */
async function runOrThrow(argv: Command['argv'], logFile: string): Promise<void> {
  const entries = Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const env: Record<string, string> = Object.fromEntries(entries)
  const end = await runCommand({ argv, cwd: cacheFolder(), env, limitMs: installLimitMs, logFile })
  if (end.code !== 0) throw new Error(`${argv.join(' ')} ended with ${end.code}: ${end.err.slice(-2_000)}`)
}
