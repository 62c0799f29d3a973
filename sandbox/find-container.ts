import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { failureOf, findProgram, isSuccess, runProgram } from '#platform/run-program.ts'
import type { Env } from '#platform/env.ts'
import { parseJson } from '#domain/json.ts'
import { type ContainerEngine, engineNames, memoryOf } from './container.ts'
import { removeLeftContainers } from './left-containers.ts'
import { runInContainer } from './run-in-container.ts'
import type { SandboxLimits } from './sandboxed-program.ts'
import { namespaceFlags, refusedNames } from './system-call-filter.ts'

export type ContainerOptions = {
  image: string | undefined
  searchPath: string
  env: Env
  paths: readonly string[]
}

const commandMs = 20_000

/** Finds the first engine that has the image and holds a program to its limits, tried once; else TOOL_005 with what each lacks. */
export async function findContainer(
  { image, searchPath, env, paths }: ContainerOptions,
  limits: SandboxLimits,
): Promise<ContainerEngine> {
  if (image === undefined) throw new AppError('TOOL_005', 'no image for containers is named (sandbox.image)')
  const lacks: string[] = []
  for (const name of engineNames) {
    const path = await findProgram(name, searchPath)
    if (path === undefined) {
      lacks.push(`${name} is not installed`)
      continue
    }
    const seccomp = name === 'podman' ? await strictSeccomp({ path, env }) : undefined
    if (name === 'podman' && seccomp === undefined) {
      lacks.push('podman does not work here: its profile of system calls cannot be read')
      continue
    }
    const engine: ContainerEngine = { name, path, env, image, paths, seccomp }
    const lack = (await lackOfImage(engine)) ?? (await lackOfLimits(engine, limits))
    if (lack === undefined) {
      await removeLeftContainers(engine)
      return engine
    }
    lacks.push(`${name} does not work here: ${lack}`)
  }
  throw new AppError('TOOL_005', lacks.join('; '))
}

/** Nothing is pulled: it would be a download in the middle of a run, of what somebody else may have changed. */
async function lackOfImage({ path, env, image }: ContainerEngine): Promise<string | undefined> {
  const format = '{{range $folder, $none := .Config.Volumes}}{{$folder}} {{end}}'
  const signal = new AbortController().signal
  const command = [path, 'image', 'inspect', '--format', format, image] as const
  const end = await runProgram(command, { limitMs: commandMs, signal, env })
  if (!isSuccess(end)) return failureOf(end)
  const volumes = end.out.trim()
  return volumes === '' ? undefined : `the image ${image} has volumes, which are on the disk and writable: ${volumes}`
}

const probe = `cd /sys/fs/cgroup
cat memory.max pids.max 2>/dev/null || cat memory/memory.limit_in_bytes pids/pids.max
while read -r name value; do
  case $name in NoNewPrivs: | Seccomp: | CapBnd:) echo "$name$value" ;; esac
done </proc/self/status
unshare -U true 2>/dev/null && echo namespaces`

/** Engines start a container also where they cannot limit it, such as rootless ones without a cgroup of their own. */
async function lackOfLimits(engine: ContainerEngine, limits: SandboxLimits): Promise<string | undefined> {
  const program = { command: ['sh', '-c', probe] as const, files: {}, limits }
  const ended = await runInContainer(program, engine, new AbortController().signal).catch((error: unknown) =>
    error instanceof Error ? error.message : String(error),
  )
  if (typeof ended === 'string') return ended
  const [memory = '', processes = '', ...status] = ended.output.trim().split('\n')
  if (!(Number(memory) <= memoryOf(program))) return 'it does not limit memory: it has no cgroup for it'
  if (!(Number(processes) < 1_000)) return 'it does not limit processes: it has no cgroup for it'
  if (!status.includes('NoNewPrivs:1') || !status.includes(`CapBnd:${'0'.repeat(16)}`))
    return 'it leaves programs a privilege'
  if (status.includes('namespaces')) return 'it lets programs make user namespaces'
  if (!status.includes('Seccomp:2')) return 'it does not filter system calls (its seccomp profile is off)'
  return undefined
}

const Profile = z.looseObject({ syscalls: z.array(z.looseObject({ names: z.array(z.string()), action: z.string() })) })

/** Includes calls for containers in containers, which Podman's own profile allows: namespaces, mounts and keys. */
const refused = [...refusedNames, 'clone3', 'umount']

/**
 * Returns Podman's seccomp profile without what bubblewrap's filter refuses, as JSON. A call that no rule allows is refused as unknown, so
 * that libraries use the older `clone`, whose flags can be looked at. Undefined when there is no profile to be read.
 */
async function strictSeccomp({ path, env }: Pick<ContainerEngine, 'path' | 'env'>): Promise<string | undefined> {
  const command = [path, 'info', '--format', '{{.Host.Security.SECCOMPProfilePath}}'] as const
  const end = await runProgram(command, { limitMs: commandMs, signal: new AbortController().signal, env })
  const file = end.kind === 'ended' ? end.out.trim() : ''
  const { data: profile } = Profile.safeParse(parseJson(await readFile(file, 'utf8').catch(() => '')))
  if (profile === undefined) return undefined
  const syscalls = profile.syscalls.map((rule) => ({
    ...rule,
    names: rule.names.filter((name) => rule.action !== allow || (name !== 'clone' && !refused.includes(name))),
  }))
  const clone = {
    names: ['clone'],
    action: allow,
    args: [{ index: 0, value: namespaceFlags, valueTwo: 0, op: maskedEqual }],
  }
  return JSON.stringify({ ...profile, syscalls: [...syscalls.filter(({ names }) => names.length > 0), clone] })
}

const allow = 'SCMP_ACT_ALLOW'
const maskedEqual = 'SCMP_CMP_MASKED_EQ'
