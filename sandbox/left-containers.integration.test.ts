import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { containerSandboxes, processesWith, runIn } from './sandbox.fixture.ts'

const sandboxes = await containerSandboxes(process.env)
const worker = fileURLToPath(new URL('waiting-worker.fixture.ts', import.meta.url))

/** The worker and the engine's command have the word, too, in a longer argument. */
async function isRunning(word: string): Promise<boolean> {
  return (await processesWith(word)).some((command) => command.startsWith(`${word}\0`))
}

describe.each(sandboxes)('a program in $name whose worker is killed', ({ lack, open }) => {
  describe.skipIf(lack !== undefined)(`here: ${lack ?? 'yes'}`, () => {
    const killed: (() => void)[] = []
    afterEach(() => killed.splice(0).forEach((kill) => kill()))

    async function startWorker(script: string, word: string) {
      const asked = JSON.stringify({ ...open.options, script })
      const child = spawn(process.execPath, [worker, asked], { stdio: 'ignore' })
      killed.push(() => child.kill('SIGKILL'))
      await until(() => isRunning(word))
      return child
    }

    it('ends with it', async () => {
      const word = `orphan-${process.pid}`
      const child = await startWorker(`exec bash -c 'exec -a ${word} sleep 600'`, word)
      child.kill('SIGKILL')
      await until(async () => ({ signal: child.signalCode, isLeft: await isRunning(word) }), {
        holds: ({ signal, isLeft }) => signal !== null && !isLeft,
      })
      expect(await isRunning(word)).toBe(false)
    })

    it('is ended and removed at the next start when it has ended what waits for that', async () => {
      const word = `survivor-${process.pid}`
      const others = 'for p in $(ls /proc | grep "^[0-9]"); do [ $p = 1 ] || [ $p = $$ ] || kill -9 $p; done'
      const child = await startWorker(`${others} 2>/dev/null; exec bash -c 'exec -a ${word} sleep 600'`, word)
      const living = open.sandbox()
      const other = runIn(living, ['sh', '-c', 'sleep 3; echo whole'])
      child.kill('SIGKILL')
      await until(() => child.signalCode, { holds: (signal) => signal !== null })
      expect(await isRunning(word)).toBe(true)
      expect(await open.sandbox().state()).toMatchObject({ kind: 'works' })
      expect(await isRunning(word)).toBe(false)
      expect(await other).toMatchObject({ output: 'whole\n' })
    })
  })
})
