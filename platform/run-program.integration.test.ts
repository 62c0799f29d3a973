import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { runProgram, runUnharmed } from './run-program.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-programs-'))
})
afterEach(() => rm(dir, { recursive: true }))

const signal = new AbortController().signal
const env = { PATH: '/usr/bin:/bin' }
const running = { limitMs: 60_000, signal, env }

async function script(body: string): Promise<readonly [string]> {
  const path = join(dir, 'program')
  await writeFile(path, `#!/bin/sh\ncd ${dir}\n${body}\n`)
  await chmod(path, 0o755)
  return [path]
}

/** Writes `started`, waits for `go`, writes `done`. */
const slow = ': > started; until test -f go; do /bin/sleep 0.05; echo working; done; : > done'
const there = async (name: string) => (await readdir(dir)).includes(name)

describe('a program of the system', () => {
  it('is ended with all it has started when it takes too long, or is not wanted any more', async () => {
    const command = await script(`(${slow}) & wait`)
    expect(await runProgram(command, { ...running, limitMs: 300 })).toMatchObject({ kind: 'late' })
    const stop = new AbortController()
    const stopped = runProgram(command, { ...running, signal: stop.signal })
    await until(() => readdir(dir), { holds: (names) => names.includes('started') })
    stop.abort(new Error('interrupted'))
    await expect(stopped).rejects.toThrow('interrupted')
    await writeFile(join(dir, 'go'), '')
    const left = ['/bin/sh', '-c', `ps -eo args | grep -c '^/bin/sh ${dir}'`] as const
    await until(() => runProgram(left, running), { holds: (count) => count.kind === 'ended' && count.out === '0\n' })
    expect(await there('done')).toBe(false)
  })

  it('that does not end when asked to is killed before the caller goes on', async () => {
    const stop = new AbortController()
    const command = await script(`trap '' TERM; echo $$ > pid; : > started; while :; do /bin/sleep 0.05; done`)
    const stopped = runProgram(command, { ...running, signal: stop.signal })
    await until(() => readdir(dir), { holds: (names) => names.includes('started') })
    const pid = Number(await readFile(join(dir, 'pid'), 'utf8'))
    stop.abort(new Error('interrupted'))
    await expect(stopped).rejects.toThrow('interrupted')
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  it('that is not there is absent', async () => {
    expect(await runProgram([join(dir, 'none')], running)).toMatchObject({ kind: 'absent' })
  })
})

describe('a program that must not be stopped halfway', () => {
  it('goes on when it takes too long', async () => {
    const end = await runUnharmed(await script(slow), { ...running, limitMs: 50, logPath: join(dir, 'log') })
    expect(end.kind).toBe('late')
    await writeFile(join(dir, 'go'), '')
    await until(() => readdir(dir), { holds: (names) => names.includes('done') })
  })

  it.each(['SIGINT', 'SIGHUP', 'SIGKILL'] as const)(
    'goes on when a %s ends the command and all of its process group',
    async (name) => {
      const [program] = await script(slow)
      const module = new URL('run-program.ts', import.meta.url)
      const options = { limitMs: 60_000, logPath: join(dir, 'log'), env }
      const call = `runUnharmed([${JSON.stringify(program)}], { ...${JSON.stringify(options)}, signal: new AbortController().signal })`
      const source = `import { runUnharmed } from '${module.href}'; await ${call}`
      const command = spawn(process.execPath, ['--input-type=module', '-e', source], {
        detached: true,
        stdio: 'ignore',
      })
      await until(() => readdir(dir), { holds: (names) => names.includes('started') })
      process.kill(-(command.pid ?? Number.NaN), name)
      await once(command, 'close')
      await writeFile(join(dir, 'go'), '')
      await until(() => readdir(dir), { holds: (names) => names.includes('done') })
      expect(await readFile(join(dir, 'log'), 'utf8')).toContain('working')
    },
  )

  it('is not started when its log cannot be written, and says why', async () => {
    await mkdir(join(dir, 'log'))
    const end = await runUnharmed(await script(': > done'), { ...running, logPath: join(dir, 'log') })
    expect(end).toEqual({ kind: 'absent', reason: expect.stringContaining('its log cannot be written: EISDIR') })
    expect(await there('done')).toBe(false)
  })
})
