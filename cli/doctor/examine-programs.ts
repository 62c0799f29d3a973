import { openGoLinter } from '#languages/go/lint/go-linter.ts'
import { wheelInstallers } from '#platform/install-wheel.ts'
import { bubblewrap, type KnownProgram, redisServer, ruff } from '#platform/known-programs.ts'
import { locateProgram } from '#platform/obtain-program.ts'
import type { Installable, Packager } from '#platform/packager.ts'
import { bubblewrapDir, programCache } from '#platform/program-cache.ts'
import { findProgram, runProgram } from '#platform/run-program.ts'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import type { CliConfig } from '../cli-config.ts'
import { fine, type Diagnosis, doubtful, lacking, missing } from './diagnosis.ts'

export type ProgramSearch = {
  config: CliConfig
  packager: Packager | undefined
  signal: AbortSignal
}

const lookMs = 3_000

/** Says where the Redis of an embedded stack is, or how to get it. A remote service has its own. */
export async function examineRedis(search: ProgramSearch): Promise<Diagnosis> {
  const { config, packager } = search
  const { path, version, lack } = await located(redisServer, search)
  if (path !== undefined) return fine('redis', `${version} at ${path}`)
  const needed = config.apiUrl === undefined
  if (!config.mayInstallRedis || packager?.prefix === undefined)
    return { ...missing('redis', 'none that can be used', lack), needed }
  const source = `the first run gets ${packager.kind.packages.redis.join(' or ')} with ${packager.kind.program}`
  return { ...doubtful('redis', source, lack), needed }
}

function located(wanted: KnownProgram, { config, signal }: ProgramSearch) {
  const { searchPath, settings } = config
  return locateProgram(wanted, { searchPath, programDir: programCache(settings.own), env: settings.own, signal })
}

export async function examineSandbox(search: ProgramSearch): Promise<Diagnosis[]> {
  const { programs, isBubblewrap } = await examineRuntime(search)
  const isolated = ', in a sandbox of their own (no network, no capability, no process of others)'
  const scripts = 'in Monty, in processes without environment that Node lets read their own code alone'
  return [
    programs,
    fine('scripts', `${scripts}${isBubblewrap ? isolated : ''}`),
    await examineSetup(search, isBubblewrap),
  ]
}

const setupLimits = { wallMs: 10_000, memoryBytes: 512 * 1024 ** 2, diskBytes: 16 * 1024 ** 2, processes: 64 }
const installers =
  'python3 -c "import ensurepip, venv" && echo pip; npm --version >/dev/null && echo npm; command -v uv >/dev/null && echo uv'

async function examineSetup(search: ProgramSearch, hasBubblewrap: boolean): Promise<Diagnosis> {
  const { sandbox, allowsSetups } = search.config
  if (!hasBubblewrap) return fine('setup', 'runs have no setup: there is no bubblewrap')
  const program = { command: ['sh', '-c', installers] as const, files: {}, limits: setupLimits }
  const opened = openSandbox({ ...sandbox, bubblewrap: await bubblewrapPath(search) })
  const { output } = await opened.run(program, search.signal).catch(() => ({ output: '' }))
  const present = output.split('\n').filter((line) => ['pip', 'npm', 'uv'].includes(line))
  const services = allowsSetups ? '' : '; services of your own refuse it (setup.mode is off)'
  if (present.length > 0) return fine('setup', `"remora run --setup" may install with ${present.join(', ')}${services}`)
  const advice = 'install python3-venv or npm, for tests that need more than the repository'
  return lacking('setup', 'neither pip nor npm is in /usr, where the sandbox finds programs', advice)
}

async function bubblewrapPath({ config, signal }: ProgramSearch): Promise<string | undefined> {
  const { sandbox, searchPath, settings } = config
  const isRoot = process.getuid?.() === 0
  const places = { searchPath, programDir: bubblewrapDir(settings.own, isRoot), env: settings.own, signal }
  return sandbox.bubblewrap ?? (await locateProgram(bubblewrap, places)).path
}

async function examineRuntime(search: ProgramSearch): Promise<{ programs: Diagnosis; isBubblewrap: boolean }> {
  const { sandbox } = search.config
  const { runtime, image } = sandbox
  if (runtime === 'none') {
    const words = 'sandbox.runtime is none: agents that run programs have no work'
    return { programs: fine('sandbox', words), isBubblewrap: false }
  }
  const path = runtime === 'container' ? undefined : await bubblewrapPath(search)
  const state = await openSandbox({ ...sandbox, bubblewrap: path }).state()
  if (state.kind === 'lacking') {
    const advice = [...(runtime === 'container' ? [] : [bubblewrapAdvice(path, search)]), ...containerAdvice(search)]
    const programs = lacking(
      'sandbox',
      state.reason,
      `${advice.join('; or ')}, for agents that run tests or other programs`,
    )
    return { programs, isBubblewrap: false }
  }
  if (state.with === 'bubblewrap') {
    return { programs: fine('sandbox', `programs run in bubblewrap, ${path}`), isBubblewrap: true }
  }
  return { programs: fine('sandbox', `programs run in containers of ${state.with}, ${image}`), isBubblewrap: false }
}

function bubblewrapAdvice(path: string | undefined, { packager }: ProgramSearch): string {
  if (path === undefined) return byHand('bubblewrap', packager)
  return 'allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or an AppArmor profile for bwrap; of a container, its seccomp profile)'
}

function containerAdvice({ config, packager }: ProgramSearch): string[] {
  const { runtime, image } = config.sandbox
  if (runtime === 'bubblewrap') return []
  const engine = `Podman or Docker (${byHand('podman', packager)})`
  if (image === undefined) return [`set sandbox.image, the image of containers, for ${engine}`]
  return [`get ${engine} and in it the image (docker build -f infra/sandbox.Dockerfile -t ${image} infra)`]
}

export async function examineGit(search: ProgramSearch): Promise<Diagnosis> {
  const path = await findProgram('git', search.config.searchPath)
  if (path === undefined) return { ...missing('git', 'not on the PATH', byHand('git', search.packager)), needed: false }
  const { config, signal } = search
  const tried = await runProgram([path, '--version'], { limitMs: lookMs, signal, env: config.settings.own })
  const version = tried.kind === 'ended' ? /\d[\d.]*/.exec(tried.out)?.[0] : undefined
  return fine('git', `${version ?? 'an unknown version'} at ${path}`)
}

export async function examineRuff(search: ProgramSearch): Promise<Diagnosis> {
  const { searchPath, mayInstallRedis } = search.config
  const { path, version, lack } = await located(ruff, search)
  if (path !== undefined) return fine('ruff', `${version} at ${path}: lint takes Python`)
  const pips = await Promise.all(wheelInstallers.map((name) => findProgram(name, searchPath)))
  const isGot = mayInstallRedis && pips.some((pip) => pip !== undefined)
  const state = isGot ? 'not installed: the first run gets its wheel from PyPI' : 'Python cannot be linted (TOOL_005)'
  return lacking('ruff', state, lack)
}

/** Looks for gofmt. Without it Go is left alone, which only matters to those who have some. */
export async function examineGofmt({ config }: ProgramSearch): Promise<Diagnosis> {
  const { lack, version, close } = await openGoLinter(config)
  const why = await lack()
  close()
  return fine('gofmt', why === undefined ? `${version}: lint takes Go` : `lint leaves Go alone: ${why}`)
}

function byHand(name: Installable, packager: Packager | undefined): string {
  return packager === undefined ? `install ${name}` : packager.byHand(name)
}
