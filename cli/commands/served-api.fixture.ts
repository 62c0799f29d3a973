import { afterAll, beforeAll } from 'vitest'
import type { Env } from '#platform/env.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { openTestApi, type TestApi } from '../../services/api/app.fixture.ts'
import { serveApp } from '../../services/api/http/serve-app.ts'
import { readCliConfig } from '../cli-config.ts'
import type { CliContext } from '../cli-context.ts'
import { buildProgram } from '../program.ts'

export type Printed = { code: number; out: string; err: string }
type Given = Partial<Omit<CliContext, 'io' | 'config' | 'verbose'>> & { env?: Env; printed?: Printed }

/** Runs a command in this process and returns what it printed; throws what the command throws. `printed` grows while it runs. */
export async function runCommand(
  args: readonly string[],
  { env = {}, printed = { code: 0, out: '', err: '' }, ...given }: Given = {},
): Promise<Printed> {
  const io = {
    out: (text: string) => void (printed.out += text),
    err: (text: string) => void (printed.err += text),
    exit: (code: number) => void (printed.code = code),
  }
  const usual = { cwd: '.', signal: new AbortController().signal, terminal: undefined, colored: false }
  const openContext = async () => ({ ...usual, ...given, io, config: readCliConfig(env) })
  await buildProgram({ io, openContext }).parseAsync(args, { from: 'user' })
  return printed
}

/** Serves an API of its own to the tests of a file, and runs commands that ask it. */
export function useServedApi() {
  const open: { api?: TestApi; served?: Awaited<ReturnType<typeof serveApp>> } = {}
  beforeAll(async () => {
    open.api = await openTestApi(await testRedis(), await testObjects())
    open.served = await serveApp(open.api.app, { host: '127.0.0.1', port: 0, graceMs: 1_000 })
  })
  afterAll(async () => {
    await open.served?.close()
    await open.api?.close()
  })
  const api = () => {
    if (open.api === undefined) throw new Error('it is opened when the tests begin')
    return open.api
  }
  const env = () => ({ REMORA_API_URL: open.served?.url ?? '', REMORA_TOKEN: api().token })
  const remoraWith = (given: Given, ...args: string[]) =>
    runCommand(args, { ...given, env: { ...env(), ...given.env } })
  return {
    get api() {
      return api()
    },
    /** Names the API and its token for a command. */
    env,
    remoraWith,
    remora: (...args: string[]) => remoraWith({}, ...args),
  }
}
