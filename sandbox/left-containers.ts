import { readFile, readlink } from 'node:fs/promises'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { identify, isAlive, ProcessIdentity } from '#platform/process-identity.ts'
import { runProgram } from '#platform/run-program.ts'
import { type ContainerEngine, ownerLabel } from './container.ts'

const Owner = z.object({
  /** Names the boot and the namespace of processes: in others the same number is another process. */
  namespace: z.string(),
  process: ProcessIdentity,
  untilMs: z.number(),
})
type Owner = z.infer<typeof Owner>

/** Covers what starting and ending a container take at most beside its program, and by how much clocks differ. */
const marginMs = 300_000
const commandMs = 20_000

export async function labelOf(wallMs: number): Promise<string> {
  const [namespace, self] = await Promise.all([ownNamespace(), identify(process.pid)])
  const owner: Owner = { namespace, process: self, untilMs: Date.now() + wallMs + marginMs }
  return JSON.stringify(owner)
}

/** Removes containers of processes of this machine that are no more, and those whose time is over; what fails is left to the next start. */
export async function removeLeftContainers({ path, env }: Pick<ContainerEngine, 'path' | 'env'>): Promise<void> {
  const running = { limitMs: commandMs, signal: new AbortController().signal, env }
  const ask = async (...args: string[]) => {
    const end = await runProgram([path, ...args], running)
    return end.kind === 'ended' ? end.out.split('\n').filter((line) => line.trim() !== '') : []
  }
  const ids = await ask('ps', '--all', '--quiet', '--filter', `label=${ownerLabel}`)
  if (ids.length === 0) return
  const format = `{{.Id}} {{index .Config.Labels "${ownerLabel}"}}`
  const namespace = await ownNamespace()
  for (const line of await ask('inspect', '--type', 'container', '--format', format, ...ids)) {
    const at = line.indexOf(' ')
    if (!(await isLeft(line.slice(at + 1), namespace))) continue
    const id = line.slice(0, at)
    // Podman's `rm` alone would first ask the program to end.
    await ask('kill', id)
    await ask('rm', '--force', id)
  }
}

async function isLeft(label: string, namespace: string): Promise<boolean> {
  const { data: owner } = Owner.safeParse(parseJson(label))
  if (owner === undefined) return false
  if (owner.untilMs < Date.now()) return true
  return owner.namespace === namespace && !(await isAlive(owner.process))
}

async function ownNamespace(): Promise<string> {
  const [boot, pids] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
    readlink('/proc/self/ns/pid').catch(() => ''),
  ])
  return `${boot.trim()} ${pids}`
}
