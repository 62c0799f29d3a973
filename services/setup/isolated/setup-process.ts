import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
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
  answerTo(IsolatedSetup.parse(message)).then(send, (error: unknown) => {
    const { code, message: reason } = asAppError(error, 'TOOL_004')
    send({ kind: 'fault', code, reason })
  })
})
process.once('disconnect', () => process.exit(0))

function send(answer: IsolatedAnswer): void {
  process.send?.(answer, () => process.exit(0))
}

async function answerTo(setup: IsolatedSetup): Promise<IsolatedAnswer> {
  const isRoot = process.getuid?.() === 0
  const dir = await mkdtemp(join(tmpdir(), 'remora-setup-'))
  if (isRoot) await chmod(dir, 0o755) // the sandbox is started as nobody
  const remove = () => rm(dir, { recursive: true, force: true })
  const path = join(dir, 'registries')
  const rules = registryRules(setup.registries, setup.internalRegistries)
  // Mounted in the sandbox by then, so its name is not needed any more: nothing is left should this process be killed.
  const proxy = await openRegistryProxy({ path, rules, maxBytes: setup.maxDownloadBytes, onFirst: () => void remove() })
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
    await remove()
  }
}

const shownChars = 4_000

function answerOf({ ending, output, durationMs }: ProgramResult, proxy: ProxyReport): IsolatedAnswer {
  const common = { durationMs, hosts: proxy.hosts, refused: proxy.refused }
  if (ending.kind === 'exited' && ending.code === 0) return { kind: 'made', ...common }
  const how = ending.kind === 'exited' ? `exit code ${ending.code}` : `it was stopped by its limit of ${ending.reason}`
  const over = proxy.isOverLimit ? ', after it had downloaded more than setup.download_mb' : ''
  const refused = proxy.refused.length === 0 ? '' : `; not reached: ${proxy.refused.join(', ')}`
  return { kind: 'failed', reason: `${how}${over}${refused}`, output: output.slice(-shownChars), ...common }
}
