import { rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { asAppError } from '#domain/error.ts'
import { environmentFolder } from '#domain/setup.ts'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import type { ProgramResult } from '#sandbox/sandboxed-program.ts'
import { openRegistryProxy, type ProxyReport } from './registry-proxy.ts'
import { registryRules } from './registry-rules.ts'
import { IsolatedSetup, type IsolatedAnswer, isolatedDescriptors } from './run-isolated.ts'
import { certificateMounts, proxySocket, setupProgram, setupVariables } from './setup-script.ts'

/*
 * The process that runs one setup: the command in the sandbox, and the proxy, which is all that the command reaches. It was started
 * without a variable of the service's environment, and has no connection to a store. It ends with the service.
 */
process.once('message', (message) => {
  const setup = IsolatedSetup.parse(message)
  process.once('disconnect', () => {
    rmSync(setup.dir, { recursive: true, force: true })
    process.exit(0)
  })
  answerTo(setup).then(send, (error: unknown) => {
    const { code, message: reason } = asAppError(error, 'TOOL_004')
    send({ kind: 'fault', code, reason })
  })
})

function send(answer: IsolatedAnswer): void {
  process.send?.(answer, () => process.exit(0))
}

async function answerTo(setup: IsolatedSetup): Promise<IsolatedAnswer> {
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chmod(setup.dir, 0o755) // the sandbox is started as nobody
  const path = join(setup.dir, 'registries')
  const rules = registryRules(setup.registries, setup.internalRegistries)
  const proxy = await openRegistryProxy({ path, rules, maxBytes: setup.maxDownloadBytes })
  const result = new Socket({ fd: isolatedDescriptors.result, readable: false })
  try {
    await chmod(path, 0o666)
    const sandbox = openSandbox({ ...setup.sandbox, places: 1 })
    const program = {
      command: setupProgram(setup.command, setup.hasPython),
      files: { base: async () => isolatedDescriptors.base },
      environment: setupVariables(setup.variables),
      mounts: [{ from: path, to: proxySocket }, ...certificateMounts()],
      folders: [environmentFolder],
      result,
      limits: setup.limits,
    }
    const ended = await sandbox.run(program, new AbortController().signal)
    return answerOf(ended, proxy.report())
  } finally {
    result.destroy()
    await proxy.close()
  }
}

const shownChars = 4_000

function answerOf({ ending, output, durationMs }: ProgramResult, proxy: ProxyReport): IsolatedAnswer {
  const common = { durationMs, hosts: proxy.hosts, refused: proxy.refused }
  if (ending.kind === 'exited' && ending.code === 0 && !proxy.isOverLimit) return { kind: 'made', ...common }
  const how = ending.kind === 'exited' ? `exit code ${ending.code}` : `it was stopped by its limit of ${ending.reason}`
  const over = proxy.isOverLimit ? ', and it downloaded more than setup.download_mb' : ''
  const refused = proxy.refused.length === 0 ? '' : `; not reached: ${proxy.refused.join(', ')}`
  return { kind: 'failed', reason: `${how}${over}${refused}`, output: output.slice(-shownChars), ...common }
}
