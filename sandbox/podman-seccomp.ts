import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { runProgram } from '#platform/run-program.ts'
import type { ContainerEngine } from './container.ts'
import { namespaceFlags, refusedNames } from './system-call-filter.ts'

const Profile = z.looseObject({ syscalls: z.array(z.looseObject({ names: z.array(z.string()), action: z.string() })) })

const commandMs = 20_000
/** Includes calls for containers in containers, which Podman's own profile allows: namespaces, mounts and keys. */
const refused = [...refusedNames, 'clone3', 'umount']

/**
 * Returns Podman's seccomp profile without what bubblewrap's filter refuses, as JSON. A call that no rule allows is refused as unknown, so
 * that libraries use the older `clone`, whose flags can be looked at. Undefined when there is no profile to be read.
 */
export async function strictSeccomp({ path, env }: Pick<ContainerEngine, 'path' | 'env'>): Promise<string | undefined> {
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
