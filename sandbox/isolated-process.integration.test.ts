import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import { compileScript } from '#tool-scripts/compiled-script.ts'
import { codeFolders, startLimitedProcess } from '#tool-scripts/limited-process.ts'
import { openScriptPool } from '#tool-scripts/script-pool.ts'
import type { Wrapper } from '#platform/run-program.ts'
import { testSandbox } from './sandbox.fixture.ts'

const { sandbox, lack } = await testSandbox(process.env)
const wrapper = await sandbox.wrapper(codeFolders)
const Tried = z.object({ reached: z.array(z.string()), capabilities: z.string() })
const file = fileURLToPath(new URL('hostile-child.fixture.ts', import.meta.url))

/** What code in a script process reaches that is no tool script any more. */
async function tried(using: Wrapper | undefined): Promise<z.infer<typeof Tried>> {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const { promise, resolve, reject } = Promise.withResolvers<z.infer<typeof Tried>>()
  const child = startLimitedProcess(
    { file, message: Tried, wrapper: using },
    { onMessage: resolve, onExit: (words) => reject(new Error(words)) },
  )
  child.send(`${port} ${process.pid}`, { isBusy: false })
  return promise.finally(() => {
    child.kill()
    server.close()
  })
}

describe('a script process', () => {
  it('has no rights in Node but to read its own code', async () => {
    const { reached } = await tried(undefined)
    expect(reached).toEqual(['signal', 'network'])
  })

  it.skipIf(lack !== undefined)(
    `has in the sandbox no network, no capability and no process to signal (${lack ?? 'bubblewrap'})`,
    async () => {
      expect(await tried(wrapper)).toEqual({ reached: [], capabilities: 'not readable' })
    },
  )

  it.skipIf(lack !== undefined)(`runs tool scripts in the sandbox as before (${lack ?? 'bubblewrap'})`, async () => {
    const pool = openScriptPool({ size: 1, wrapper })
    const script = await compileScript({ path: 'a.pym', source: 'sum([n * n for n in range(10)])' })
    const ending = await pool.run(script, { inputs: {}, externals: {} }, new AbortController().signal)
    await pool.close()
    expect(ending).toMatchObject({ kind: 'returned', value: 285 })
  })

  it.skipIf(lack !== undefined)(
    `ends when it is killed at any moment of its start (${lack ?? 'bubblewrap'})`,
    async () => {
      for (let ms = 0; ms < 40; ms++) {
        const { promise: ended, resolve } = Promise.withResolvers<string>()
        const child = startLimitedProcess({ file, message: Tried, wrapper }, { onMessage: () => {}, onExit: resolve })
        await delay(ms)
        child.kill()
        expect(await ended).toContain('SIGKILL')
      }
    },
  )
})
