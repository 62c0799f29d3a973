import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { Env } from './env.ts'
import type { ObtainOptions, ProgramPlaces } from './obtain-program.ts'
import { isOwnFolder, makeOwnFolder } from './own-file.ts'
import { type FoundProgram, type Look, programCache } from './program-cache.ts'
import { failureOf, findProgram, isSuccess, runProgram } from './run-program.ts'

/** The Ruff that lints are made with, of PyPI's wheels for Linux (x64, arm64; glibc, musl) and macOS. */
export const pinnedRuff = '0.17.3'
const hashes = [
  '029c37cbd3de48ca37aa12117bead2d065f15da17d66bf84e0d4274013705db2',
  '27bb571ac78fef178fe5118d2827df95c2aae74a48fff2b15f6acd03af5ff5bb',
  '39405f341deec934b4289634324ad695f72df2970f9121582872eaf5b722f0f5',
  '4590b9d86c0b1543ebb09094254e191cd43fe8edaf330baa035aab03da251532',
  '46539cb031b01fd29ae0a02142483c46640b233ee12bb1c1b690bffa1555d5ca',
  '56b8ffb3f3b3cbccb8b76b71b38261b7ed982ef5d20f5b447b1b61a7f4949b24',
  '68074094f55ca3d29ab19491f640282f7a84061c4c7977aa5094b968ca457e9a',
  '692fdb46d0fd9c71e380947dc5fc72f2c3f881073bc1f739e4579376231affbe',
  '6a754c0341bc9ca151b7b335988b3263921c08859f84ca219b70cee825571b6f',
  '7fa4b0f931cdbcb8a52044f370a3eb429fb42eb88807b0e800fcaa98dd42b24e',
  '81fce74bcd6be0e9da7c67c7553fd0f1f12964a2052cd728ef917b937a5ca1d9',
  'a57049c8addb3662073859bb55a7ad35aa54f8a7c9ed268911d1333c5aadaaa9',
  'ab5fa7ed5ce18554ea69d850ad162cbaa0c85fc47c08d83a569f806681c9a6ad',
  'ab86b84cd9d05e56d329742c0cabdcbe2d1d56c98f4a04aab9b5b66196febfb4',
  'b75cc113b3aca388933d8296b667b1ac401a80317ea3074c9b0a66541199da29',
  'bbde18beccd98c29a227c63c99022e3443b99258e08326df6425dfe0443705ef',
  'c673c170e27834d1262e3a9c1e97bdc9b9c3b180c63d89173ce69747232474c1',
  'e407b4a6852853a9a2cdce96963e94ad9775578bb44e7561a0f2829f3cc04b11',
]

/** A Ruff of this machine, or why there is none and how a person gets one. */
export type RuffProgram =
  | { path: string; version: string; lack?: undefined }
  | { path?: undefined; version?: undefined; lack: string }

const byHand = `install Ruff (pip install ruff==${pinnedRuff}, or see https://docs.astral.sh/ruff/installation)`
const versionMs = 5_000
const installMs = 300_000
/** Older ones answer a language client in another way. */
const leastMinor = 12

/** Finds the Ruff of the search path. */
export async function findRuff({ searchPath, ...look }: Look & { searchPath: string }): Promise<RuffProgram> {
  const path = await findProgram('ruff', searchPath)
  const found = path === undefined ? undefined : await examineRuff(path, look)
  if (found === undefined) return { lack: `there is no Ruff: ${byHand}` }
  return found.fits ? found : { lack: `Ruff ${found.version} at ${found.path} is too old: ${byHand}` }
}

/**
 * The pinned Ruff: an earlier call's, else the one on the PATH, else the wheel that uv or pip gets into the folder of programs, from the index that
 * the user has for them. Else another Ruff of the PATH. Safe to call again after any failure, and by several processes at once.
 */
export async function obtainRuff(options: ObtainOptions): Promise<RuffProgram> {
  const { programDir, mayInstall } = options
  const kept = programDir === undefined ? undefined : await keptRuff({ ...options, programDir })
  if (kept !== undefined) return kept
  const installed = await findRuff(options)
  if (installed.version === pinnedRuff || !mayInstall || programDir === undefined) return installed
  if (!(await makeOwnFolder(programDir))) return installed
  const { path, refusals } = await fromPyPI({ ...options, programDir })
  if (path !== undefined) return { path, version: pinnedRuff }
  const tried = refusals.length === 0 ? 'neither uv nor pip is on the PATH' : refusals.join('; ')
  return installed.lack === undefined ? installed : { lack: `${installed.lack} (${tried})` }
}

/** Looks for a Ruff where `obtainRuff` does, and gets none. */
export function locateRuff(places: ProgramPlaces): Promise<RuffProgram> {
  return obtainRuff({ ...places, mayInstall: false, isRoot: false, say: () => {} })
}

/**
 * Gets the pinned Ruff for tests and measurements as `remora run` does, and puts it first on the PATH of `env`, this process's
 * environment. Throws CONFIG_006 when there is none to get.
 */
export async function putRuffOnPath(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  const searchPath = env['PATH'] ?? ''
  const isRoot = process.getuid?.() === 0
  const places = { searchPath, programDir: programCache(env), env, signal }
  const { path, lack } = await obtainRuff({ ...places, mayInstall: true, isRoot, say })
  if (path === undefined) throw new AppError('CONFIG_006', lack)
  env['PATH'] = withRuff(searchPath, path)
}

/** The search path on which a Ruff is found first. */
export function withRuff(searchPath: string, path: string): string {
  const folder = dirname(path)
  return searchPath.split(delimiter)[0] === folder ? searchPath : [folder, searchPath].join(delimiter)
}

type Place = ObtainOptions & { programDir: string }

function folderIn(programDir: string): string {
  return join(programDir, `ruff-${pinnedRuff}`)
}

async function keptRuff({ programDir, ...look }: Look & { programDir: string }): Promise<RuffProgram | undefined> {
  if (!(await isOwnFolder(programDir))) return undefined
  const found = await examineRuff(join(folderIn(programDir), 'bin', 'ruff'), look)
  return found?.version === pinnedRuff ? found : undefined
}

async function examineRuff(path: string, { signal, env }: Look): Promise<FoundProgram | undefined> {
  const end = await runProgram([path, '--version'], { limitMs: versionMs, signal, env })
  const [, version, minor] = /^ruff (0\.(\d+)\.\S+)/.exec(end.kind === 'ended' ? end.out : '') ?? []
  return version === undefined ? undefined : { path, version, fits: Number(minor) >= leastMinor }
}

/** Installs the wheel into a folder of its own, which is renamed when Ruff starts from it: other processes may do the same. */
async function fromPyPI(place: Place): Promise<{ path?: string; refusals: string[] }> {
  const { programDir, searchPath, signal, env, say, installLimitMs: limitMs = installMs } = place
  const refusals: string[] = []
  for (const name of ['uv', 'pip3', 'pip']) {
    const installer = await findProgram(name, searchPath)
    if (installer === undefined) continue
    say(`Ruff ${pinnedRuff} is not installed: getting its wheel with ${name} into ${programDir}`)
    const fresh = join(programDir, `ruff-${randomUUID()}`)
    try {
      await mkdir(fresh)
      const list = join(fresh, 'requirements.txt')
      await writeFile(list, [`ruff==${pinnedRuff}`, ...hashes.map((hash) => `--hash=sha256:${hash}`)].join(' \\\n  '))
      const own = name === 'uv' ? ['pip', 'install'] : ['install', '--disable-pip-version-check', '--no-input']
      const args = [
        ...own,
        '--quiet',
        '--no-deps',
        '--require-hashes',
        '--only-binary',
        ':all:',
        '--target',
        fresh,
        '-r',
      ]
      const command = ['/usr/bin/env', ...indexOf(env), installer, ...args, list] as const
      const end = await runProgram(command, { limitMs, signal, env })
      const found = isSuccess(end) ? await examineRuff(join(fresh, 'bin', 'ruff'), place) : undefined
      if (found?.version === pinnedRuff) {
        await rename(fresh, folderIn(programDir)).catch(() => undefined) // another process was faster
        const kept = await keptRuff(place)
        if (kept?.path !== undefined) return { path: kept.path, refusals }
      }
      refusals.push(`${name} did not get it: ${failureOf(end)}`)
    } finally {
      await rm(fresh, { recursive: true, force: true })
    }
  }
  return { refusals }
}

/** What the user has said of the index, for programs that get little else of our environment. */
function indexOf(env: Env): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    /^(?:PIP|UV)_\w+$/.test(name) ? [`${name}=${value ?? ''}`] : [],
  )
}
