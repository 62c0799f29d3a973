import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { runProgram } from '#platform/run-program.ts'
import type { ContainerEngine } from './container.ts'

/** What is read of a seccomp profile. */
const Profile = z.looseObject({ syscalls: z.array(z.looseObject({ names: z.array(z.string()), action: z.string() })) })

const commandMs = 20_000
/** Calls for containers in containers, which Podman's own profile allows and Docker's does not: namespaces, mounts and keys. */
const refused = [
  ['unshare', 'setns', 'clone3', 'pivot_root', 'keyctl', 'add_key', 'request_key', 'mount', 'umount', 'umount2'],
  ['mount_setattr', 'move_mount', 'open_tree', 'fsopen', 'fsconfig', 'fsmount', 'fspick'],
].flat()
/** The flags of clone(2) that make namespaces. */
const namespaceFlags = 0x7e02_0000

/**
 * Podman's seccomp profile without calls that make namespaces or mounts, as JSON. A call that no rule allows is refused as unknown, so
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
