import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { Worker } from 'node:worker_threads'
import { readLines, writeLine } from '#tool-scripts/line-channel.ts'

/** What code that has broken out of Monty, into the Node of a script process, could do: one message with what it tried. */
const [asked = ''] = readLines(0)
const [port, hostPid] = asked.split(' ')
const tries: Record<string, () => unknown> = {
  file: () => readFileSync('/etc/hostname', 'utf8'),
  environment: () => readFileSync(`/proc/${hostPid}/environ`, 'utf8'),
  processes: () => readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length,
  writing: () => writeFileSync('/tmp/remora-hostile', 'x'),
  program: () => execFileSync('/bin/true'),
  thread: () => new Worker('1', { eval: true }),
  signal: () => process.kill(Number(hostPid), 0),
}
const reached: string[] = []
for (const [name, attempt] of Object.entries(tries)) {
  try {
    attempt()
    reached.push(name)
  } catch {
    // Refused, as it should be.
  }
}
const socket = createConnection(Number(port), '127.0.0.1')
const end = (isConnected: boolean) => {
  if (isConnected) reached.push('network')
  const capabilities = /^CapBnd:\s+(\w+)/m.exec(statusOfThis())?.[1] ?? 'not readable'
  writeLine(1, JSON.stringify({ reached, capabilities }))
  process.exit(0)
}
socket.on('connect', () => end(true)).on('error', () => end(false))

function statusOfThis(): string {
  try {
    return readFileSync('/proc/self/status', 'utf8')
  } catch {
    return ''
  }
}
