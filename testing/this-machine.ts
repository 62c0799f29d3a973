import { spawnSync } from 'node:child_process'
import { chown } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { boundPort } from '#platform/http-health.ts'

/** Programs that some tests need and a machine may not have, each with arguments that show that it works. */
const proofs = {
  git: ['--version'],
  python3: ['-c', 'import ast, unittest'],
  go: ['version'],
  bun: ['--version'],
  chromium: ['--version'],
  openssl: ['version'],
  'redis-server': ['--version'],
  kubectl: ['kustomize', '--help'],
  'kubernetes-validate': ['--version'],
  'systemd-analyze': ['--version'],
  prometheus: ['--version'],
  promtool: ['--version'],
} as const

type NeededProgram = keyof typeof proofs

const said = new Set<NeededProgram>()

/**
 * For `skipIf`: whether this machine lacks one of the programs that a test needs. The reason is printed once per test
 * file.
 *
 *     it.skipIf(lacks('git'))('makes a patch that git applies', …)
 */
export function lacks(...programs: NeededProgram[]): boolean {
  const missing = programs.filter((name) => !works(name))
  for (const name of missing.filter((one) => !said.has(one))) {
    said.add(name)
    process.stderr.write(`no working ${name} on the PATH: what needs it is skipped\n`)
  }
  return missing.length > 0
}

const known = new Map<NeededProgram, boolean>()

function works(name: NeededProgram): boolean {
  const before = known.get(name)
  if (before !== undefined) return before
  const { status } = spawnSync(name, proofs[name], { stdio: 'ignore' })
  known.set(name, status === 0)
  return status === 0
}

const somebodyElse = 65_534

/** Makes another user the owner; returns why that is not permitted here, so that a test can be skipped. */
export async function giveAway(path: string): Promise<string | undefined> {
  try {
    await chown(path, somebodyElse, somebodyElse)
    return undefined
  } catch (error) {
    return `nothing can be given to another user here: ${String(error)}`
  }
}

/** Ports nobody listens on, chosen together so that no two are the same. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map(boundPort)
  for (const server of servers) server.close()
  return ports
}
