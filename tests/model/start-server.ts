import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { freePorts } from '#testing/free-ports.ts'
import { until } from '#testing/until.ts'
import type { InstalledServer } from './install-server.ts'

export type RealServer = { url: string; pid: number; stop(): Promise<void> }

export const serverSettings = {
  slots: 4,
  /** Of each slot: an agent's conversation and its reply. */
  contextPerSlot: 4096,
  /** Its threads wait for each other by spinning: with one per core, any other work on the machine stops them all. */
  threads: Math.max(1, Math.floor(availableParallelism() / 2)),
}

const script = fileURLToPath(new URL('./serve_llama.py', import.meta.url))
const loadLimitMs = 120_000

/**
 * llama.cpp's server on a free port, with this chat template: the model's own where it is undefined. It ends with `stop`, and
 * with this process, however that ends.
 */
export async function startServer(installed: InstalledServer, template: URL | undefined): Promise<RealServer> {
  const [port = 0] = await freePorts(1)
  const [command, ...args] = commandOf(installed, template === undefined ? '' : fileURLToPath(template), port)
  const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'pipe'] })
  const onExit = () => void child.kill('SIGKILL')
  process.once('exit', onExit)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-4000)))
  const origin = `http://127.0.0.1:${port}`
  const stop = async () => {
    process.off('exit', onExit)
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  try {
    await until(
      async () => {
        if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}:\n${said}`)
        return fetch(`${origin}/health`).then(
          (answer) => answer.ok,
          () => false,
        )
      },
      { withinMs: loadLimitMs },
    )
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `${origin}/v1`, pid: child.pid ?? 0, stop }
}

/** The installed server, or the `llama-server` that REMORA_E2E_LLAMA_SERVER names: one built for this processor is faster. */
function commandOf({ python, modelFile }: InstalledServer, template: string, port: number): [string, ...string[]] {
  const { slots, contextPerSlot, threads } = serverSettings
  const context = slots * contextPerSlot
  const own = process.env['REMORA_E2E_LLAMA_SERVER']
  if (own === undefined) return [python, ...[script, port, modelFile, template, threads, slots, context].map(String)]
  const flags = ['-m', modelFile, '--alias', 'gemma-3-270m', '--jinja', '--metrics', '--host', '127.0.0.1']
  const numbers = ['--port', port, '-t', threads, '-np', slots, '-c', context].map(String)
  return [own, ...flags, ...numbers, ...(template === '' ? [] : ['--chat-template-file', template])]
}
