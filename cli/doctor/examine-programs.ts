import { canBuild } from '#platform/build-redis.ts'
import { findRedis, redisChoices, redisLack } from '#platform/obtain-redis.ts'
import type { Installable, Packager } from '#platform/packager.ts'
import { programCache } from '#platform/program-cache.ts'
import { type Command, findProgram, isSuccess, lastLineOf, type ProgramEnd, runProgram } from '#platform/run-program.ts'
import type { CliConfig } from '../cli-config.ts'
import { fine, type Finding, lacking } from './finding.ts'

export type ProgramSearch = {
  config: CliConfig
  packager: Packager | undefined
  signal: AbortSignal
}

const lookMs = 3_000

/** The Redis of an embedded stack: where it is, or how to get it. A remote service has its own. */
export async function examineRedis({ config, packager, signal }: ProgramSearch): Promise<Finding> {
  const { searchPath, mayInstallRedis, apiUrl, settings } = config
  const places = { searchPath, programDir: programCache(settings.own), env: settings.own, signal }
  const { program, unfit } = await findRedis(places)
  const needed = apiUrl === undefined
  if (program !== undefined) return fine('redis', `${program.version} at ${program.path}`)
  const wanted = { name: 'redis', needed, advice: redisChoices(packager, unfit) }
  if (unfit.length > 0) return { ...wanted, state: 'missing', found: redisLack(unfit) }
  if (mayInstallRedis && packager?.prefix !== undefined) {
    const found = `not installed: the first run gets ${packager.kind.packages.join(' or ')} with ${packager.kind.program}`
    return { ...wanted, state: 'warning', found }
  }
  if (mayInstallRedis && (await canBuild(searchPath))) {
    return { ...wanted, state: 'warning', found: 'not installed: the first run builds it, in some minutes' }
  }
  return { ...wanted, state: 'missing', found: 'not installed' }
}

/** Whether the machine can isolate a program, with what, and what would be used. */
export async function examineSandbox(search: ProgramSearch): Promise<Finding[]> {
  const [bubblewrap, docker] = await Promise.all([examineBubblewrap(search), examineDocker(search)])
  const usable = [bubblewrap, docker].find(({ state }) => state === 'ok')
  const scripts = 'tool scripts run in Monty, in child processes'
  if (usable !== undefined) {
    return [fine('sandbox', `${scripts}; other programs would run in ${usable.name}`), bubblewrap, docker]
  }
  const found = `${scripts}; there is no sandbox for other programs`
  const advice = bubblewrap.advice ?? 'install bubblewrap or Docker'
  return [lacking('sandbox', found, advice), bubblewrap, docker]
}

async function examineBubblewrap(search: ProgramSearch): Promise<Finding> {
  const path = await findProgram('bwrap', search.config.searchPath)
  if (path === undefined) return absent('bubblewrap', search)
  const args = ['--ro-bind', '/', '/', '--unshare-all', '--die-with-parent', '/bin/sh', '-c', ':']
  const tried = await look(search, [path, ...args])
  if (isSuccess(tried)) return fine('bubblewrap', `works, at ${path}`)
  const advice = 'allow unprivileged user namespaces, or use Docker'
  return lacking('bubblewrap', `does not work here: ${faultOf(tried)}`, advice)
}

async function examineDocker(search: ProgramSearch): Promise<Finding> {
  const path = await findProgram('docker', search.config.searchPath)
  if (path === undefined) return absent('docker', search)
  const tried = await look(search, [path, 'version', '--format', '{{.Server.Version}}'])
  if (isSuccess(tried)) return fine('docker', `${lastLineOf(tried.out)}, at ${path}`)
  const advice = 'start the Docker daemon, or get access to it'
  return lacking('docker', `its daemon does not answer: ${faultOf(tried)}`, advice)
}

export async function examineGit(search: ProgramSearch): Promise<Finding> {
  const path = await findProgram('git', search.config.searchPath)
  if (path === undefined) return absent('git', search)
  const tried = await look(search, [path, '--version'])
  const version = tried.kind === 'ended' ? /\d[\d.]*/.exec(tried.out)?.[0] : undefined
  return fine('git', `${version ?? 'an unknown version'} at ${path}`)
}

function look({ config, signal }: ProgramSearch, command: Command): Promise<ProgramEnd> {
  return runProgram(command, { limitMs: lookMs, signal, env: config.settings.own })
}

function faultOf(tried: ProgramEnd): string {
  return tried.kind === 'absent' ? tried.reason : lastLineOf(tried.err) || 'no answer'
}

function absent(name: Installable, { packager }: ProgramSearch): Finding {
  const advice = packager === undefined ? `install ${name}` : packager.byHand(name)
  return { name, state: 'missing', needed: false, found: 'not on the PATH', advice }
}
