import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { AppError, isErrorCode, type ErrorCode } from '#domain/error.ts'
import { leastEnv, ownChildEnv } from '#platform/child-env.ts'
import { after } from '#platform/clock.ts'
import type { Env } from '#platform/env.ts'

const entry = fileURLToPath(new URL('guarded-redis-main.ts', import.meta.url))
const stopMs = 8_000
const Report = z.union([
  z.object({ url: z.string(), pid: z.int() }),
  z.object({ code: z.custom<ErrorCode>(isErrorCode), message: z.string() }),
])

type GuardOptions = {
  dir: string
  env: Env
  program: string
  password: string
  /** Called, and awaited, when the process that will own Redis runs and before Redis starts. */
  onGuard(pid: number): Promise<void>
}

/** Runs Redis under a small process that ends it when its parent dies, and that Ctrl-C does not reach: its writers must end first. */
export async function startGuardedRedis(options: GuardOptions) {
  const child = fork(entry, [options.dir, options.program], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
    execArgv: [],
    env: ownChildEnv(),
  })
  const exited = once(child, 'exit').then(() => undefined)
  await options.onGuard(child.pid ?? 0).catch((error: unknown) => {
    child.kill('SIGKILL')
    throw error
  })
  if (child.connected) child.send({ password: options.password, env: leastEnv(options.env) }, () => {})
  const [message]: unknown[] = await Promise.race([once(child, 'message'), exited.then(() => [undefined])])
  const report = Report.safeParse(message)
  if (!report.success) throw new AppError('CONFIG_006', 'the process that starts Redis ended and gave no reason')
  if ('code' in report.data) throw new AppError(report.data.code, report.data.message)
  const failed: Promise<never> = exited.then(() => {
    throw new AppError('STORE_001', 'the embedded Redis ended')
  })
  failed.catch(() => {}) // it may not be awaited, and it also rejects after stop()
  return { ...report.data, failed, stop: () => stop(child, exited) }
}

async function stop(child: ChildProcess, exited: Promise<void>): Promise<void> {
  const cancelKill = after(stopMs, () => child.kill('SIGKILL'))
  if (child.connected) child.send('stop', () => {})
  await exited
  cancelKill()
}
