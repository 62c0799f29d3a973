import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile as readText } from 'node:fs/promises'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { bomb, readFile, useProbePool } from './probe-pool.fixture.ts'

const probe = useProbePool()
const hostProgram = `
import { compileScript } from './compiled-script.ts'
import { openScriptPool } from './script-pool.ts'
const pool = openScriptPool({ size: 1 })
await pool.run(await compileScript({ path: 'a.pym', source: '1' }), { inputs: {}, externals: {} }, new AbortController().signal)
console.log(pool.pids()[0])`

/** Closes the pool and only later looks at what became of the script. */
const closing = `await pool.close()
await new Promise(setImmediate)
console.log(await ending.catch(({ code }) => code))`

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a process', () => {
  it('that is killed costs a call that waits for the host nothing, and the host is asked once', async () => {
    const asked: unknown[] = []
    const { ending, release } = await probe.waitingCall({ calls: asked })
    const [pid = 0] = probe.pids()
    process.kill(pid, 'SIGKILL')
    await until(() => probe.pids(), { holds: (pids) => !pids.includes(pid) })
    expect(await probe.run('2')).toMatchObject({ kind: 'returned', value: 2 })
    release('late')
    expect(await ending).toMatchObject({ kind: 'returned', value: 'late' })
    expect(asked).toEqual([['a']])
  })

  it('that a script brings down takes no other script along', async () => {
    const calls: unknown[] = []
    const steps = Array.from({ length: 12 }, (_, n) =>
      probe.run(`${readFile}text = ""\nfor n in range(20):\n    text += await read_file("${n}." + str(n))\ntext`, {
        externals: {
          read_file: async ([path]) => {
            calls.push(path)
            await new Promise(setImmediate)
            return String(path)
          },
        },
      }),
    )
    const endings = await Promise.all([...steps, probe.run(bomb), probe.run(bomb)])
    expect(endings.filter(({ kind }) => kind === 'returned')).toHaveLength(12)
    expect(calls).toHaveLength(240)
  })

  it('works a queue longer than its slots', async () => {
    const endings = await Promise.all(Array.from({ length: 200 }, (_, n) => probe.run(`${n}`)))
    expect(endings.map((ending) => (ending.kind === 'returned' ? ending.value : ending))).toEqual(
      Array.from({ length: 200 }, (_, n) => n),
    )
  })

  it('that does not answer is killed, and the script it was running is stopped', async () => {
    await probe.run('1')
    const [pid = 0] = probe.pids()
    process.kill(pid, 'SIGSTOP')
    const stuck = probe.run('2', { limits: { durationMs: 100 } })
    expect(await stuck).toMatchObject({ kind: 'stopped', code: 'TOOL_003', limit: 'wall_clock' })
    await until(() => !isAlive(pid))
    expect(await probe.run('3')).toMatchObject({ kind: 'returned', value: 3 })
  })

  it('lets go of what scripts handed over', async () => {
    const source = `${readFile}text = await read_file("a" * 3000000)\nlen(text)`
    await probe.run('1')
    const pids = probe.pids()
    for (let runs = 0; runs < 40; runs += 1) {
      const ending = await probe.run(source, { externals: { read_file: ([text]) => text } })
      expect(ending).toMatchObject({ kind: 'returned', value: 3_000_000 })
    }
    expect(probe.pids()).toEqual(pids)
  }, 60_000)

  it('has no environment', async () => {
    await probe.run('1')
    const [pid = 0] = probe.pids()
    expect(await readText(`/proc/${pid}/environ`, 'utf8')).not.toMatch(/PATH=|HOME=|USER=/)
  })

  it('is gone once the pool is closed, and what waited is rejected', async () => {
    const { ending } = await probe.waitingCall()
    const [pid = 0] = probe.pids()
    await probe.close()
    await expect(ending).rejects.toMatchObject({ code: 'AGENT_010' })
    expect(isAlive(pid)).toBe(false)
    await expect(probe.run('1')).rejects.toMatchObject({ code: 'AGENT_010' })
  })

  it('goes with its pool without ending the host, though nobody awaits the script yet', async () => {
    const program = hostProgram.replace('await pool.run', 'const ending = pool.run').replace(/console.*$/, closing)
    const host = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: import.meta.dirname })
    const said = textOf(host.stdout)
    const [code] = await once(host, 'exit')
    expect({ code, said: await said }).toEqual({ code: 0, said: 'AGENT_010\n' })
  })

  it('ends when its host is killed', async () => {
    const host = spawn(process.execPath, ['--input-type=module', '-e', hostProgram], { cwd: import.meta.dirname })
    const [line] = await once(host.stdout, 'data')
    const pid = Number(String(line))
    expect(isAlive(pid)).toBe(true)
    host.kill('SIGKILL')
    await until(() => !isAlive(pid))
  })
})
