import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile as readText } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { compileScript } from './compiled-script.ts'
import type { ScriptRequest } from './script-call.ts'
import { ScriptError } from './script-error.ts'
import { openScriptPool, type ScriptEnding, type ScriptPool } from './script-pool.ts'

const head = 'from grail import Input, external\n'
const readFile = `${head}@external\nasync def read_file(path: str) -> str: ...\n`
const hostProgram = `
import { compileScript } from './compiled-script.ts'
import { openScriptPool } from './script-pool.ts'
const pool = openScriptPool({ size: 1 })
await pool.run(await compileScript({ path: 'a.pym', source: '1' }), { inputs: {}, externals: {} }, new AbortController().signal)
console.log(pool.pids()[0])`
const forever = new AbortController().signal
let pool: ScriptPool

beforeEach(() => {
  pool = openScriptPool({ size: 1 })
})
afterEach(() => pool.close())

async function run(source: string, request: Partial<ScriptRequest> = {}, signal = forever): Promise<ScriptEnding> {
  const script = await compileScript({ path: 'tools/probe.pym', source })
  return pool.run(script, { inputs: {}, externals: {}, ...request }, signal)
}

/** A call that waits in its external until the test lets it go. */
async function waitingCall(
  signal = forever,
): Promise<{ ending: Promise<ScriptEnding>; release: (text: string) => void }> {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<string>()
  const read_file = (): Promise<string> => {
    asked.resolve()
    return answer.promise
  }
  const ending = run(`${readFile}await read_file("a")`, { externals: { read_file } }, signal)
  ending.catch(() => {}) // some tests look at it only later
  await asked.promise
  return { ending, release: answer.resolve }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a script', () => {
  it('gets its inputs and defaults, calls the host and returns plain JSON', async () => {
    const source = `${head}path: str = Input("path")
tags: list[str] = Input("tags", default=["x"])
note: str | None = Input("note", default=None)

@external
async def read_file(path: str, limit: int = 7, *, mode: str = "r") -> str: ...

@external
def log(message: str) -> None: ...

text = await read_file(mode="b", path=path)
log(message=text)
print("read", len(text))
answer = {"text": text, "pair": (1, 2), "tags": tags, "note": note, "big": 10**30, "nan": float("nan")}
answer`
    const calls: unknown[] = []
    const externals = {
      read_file: async (args: unknown[]) => {
        calls.push(args)
        return 'content'
      },
      log: (args: unknown[]) => void calls.push(args),
    }
    const ending = await run(source, { inputs: { path: 'a.py' }, externals })
    expect(calls).toEqual([['a.py', 7, 'b'], ['content']])
    expect(ending).toEqual({
      kind: 'returned',
      value: { text: 'content', pair: [1, 2], tags: ['x'], note: null, big: String(10n ** 30n), nan: 'NaN' },
      printed: 'read 7\n',
    })
  })

  it('catches what the host raises by its Python type', async () => {
    const source = `${readFile}try:\n    await read_file("a")\nexcept FileNotFoundError as fault:\n    answer = str(fault)\nanswer`
    const read_file = () => {
      throw new ScriptError('FileNotFoundError', 'a is not there')
    }
    expect(await run(source, { externals: { read_file } })).toMatchObject({ kind: 'returned', value: 'a is not there' })
  })

  it("ends with the author's own line when it lets an exception pass", async () => {
    const source = `${readFile}def load(path: str) -> str:\n    return path\n\nload("a")\nawait read_file("a")`
    const read_file = () => {
      throw new ScriptError('OddError', 'broken')
    }
    const ending = await run(source, { externals: { read_file } })
    expect(ending).toMatchObject({ kind: 'raised', type: 'RuntimeError', message: 'OddError: broken', line: 8 })
    expect(await run(`x = 1\n\nx / 0`)).toMatchObject({ kind: 'raised', type: 'ZeroDivisionError', line: 3 })
  })

  it('rejects with the error of the host that is no ScriptError, and the pool goes on', async () => {
    const fault = new Error('the store is down')
    const read_file = () => Promise.reject(fault)
    await expect(
      run(`${readFile}try:\n    await read_file("a")\nexcept Exception:\n    pass\n1`, { externals: { read_file } }),
    ).rejects.toBe(fault)
    expect(await run('1 + 1')).toMatchObject({ kind: 'returned', value: 2 })
  })

  it('does not begin without its inputs and externals', async () => {
    await expect(run(`${head}x: int = Input("x")\nx`, { inputs: { x: '1' } })).rejects.toMatchObject({
      code: 'TOOL_002',
    })
    await expect(run(`${readFile}await read_file("a")`)).rejects.toMatchObject({ code: 'AGENT_001' })
    expect(pool.pids()).toEqual([])
  })

  it('reaches nothing that it did not declare', async () => {
    const undeclared = await run('def f() -> None:\n    __write_file("a")\nf()')
    expect(undeclared).toMatchObject({ kind: 'raised', type: 'NameError' })
    expect(await run('open("/etc/passwd").read()')).toMatchObject({ kind: 'raised', type: 'PermissionError' })
  })

  it('may call the host thousands of times', async () => {
    const source = `${head}@external\ndef step(n: int) -> int: ...\ntotal = 0\nfor n in range(5000):\n    total += step(n)\ntotal`
    const ending = await run(source, { externals: { step: ([n]) => n }, limits: { durationMs: 10_000 } })
    expect(ending).toMatchObject({ kind: 'returned', value: 12_497_500 })
  })
})

describe('a limit', () => {
  it.each([
    ['duration', 'TOOL_003', 'while True:\n    pass'],
    ['memory', 'TOOL_006', 'x = []\nwhile True:\n    x.append("a" * 10000)'],
    ['recursion', 'TOOL_006', 'def f(n: int) -> int:\n    return f(n + 1)\nf(0)'],
    ['value_size', 'TOOL_006', '["a" * 100000] * 50'],
    ['value_depth', 'TOOL_006', 'x = []\nfor i in range(90):\n    x = [x]\nx'],
  ])('%s stops the script and names itself', async (limit, code, source) => {
    expect(await run(source, { limits: { preset: 'strict' } })).toMatchObject({ kind: 'stopped', code, limit })
    expect(await run('1')).toMatchObject({ kind: 'returned' })
  })

  it('of printed text keeps the beginning of what is printed forever', async () => {
    const source = 'n = 0\nwhile n < 20000:\n    print("0123456789")\n    n += 1\nn'
    const ending = await run(source)
    expect(ending).toMatchObject({ kind: 'returned', value: 20_000 })
    expect('printed' in ending ? ending.printed : '').toMatch(
      /^(0123456789\n){5000}[^]{0,15000}… \d+ more characters printed$/,
    )
  })

  it('of time does not count the wait for the host', async () => {
    const { ending: first, release } = await waitingCall()
    const waiting = run(`${readFile}await read_file("a")\nawait read_file("b")`, {
      externals: { read_file: async () => (await first, 'late') },
      limits: { durationMs: 200 },
    })
    const spinning = run('while True:\n    pass', { limits: { durationMs: 600 } })
    expect(await spinning).toMatchObject({ kind: 'stopped', limit: 'duration' })
    release('done')
    expect(await waiting).toMatchObject({ kind: 'returned', value: 'late' })
  })

  it('on the process ends a value that grows without bound outside of the script', async () => {
    const ending = await run('x = []\nfor i in range(45):\n    x = [x, x]\nx')
    expect(ending.kind === 'crashed' || ending.kind === 'stopped').toBe(true)
    expect(await run('1')).toMatchObject({ kind: 'returned' })
  })
})

describe('a process', () => {
  it('that is killed takes only its own calls along, and another one starts', async () => {
    const { ending } = await waitingCall()
    const [pid = 0] = pool.pids()
    process.kill(pid, 'SIGKILL')
    expect(await ending).toMatchObject({ kind: 'crashed', code: 'TOOL_004' })
    expect(await run('2')).toMatchObject({ kind: 'returned', value: 2 })
    expect(pool.pids()).not.toContain(pid)
  })

  it('runs other scripts while one waits for the host', async () => {
    const { ending, release } = await waitingCall()
    expect(await run('3')).toMatchObject({ kind: 'returned', value: 3 })
    release('late')
    expect(await ending).toMatchObject({ kind: 'returned', value: 'late' })
  })

  it('works a queue longer than its slots', async () => {
    const endings = await Promise.all(Array.from({ length: 200 }, (_, n) => run(`${n}`)))
    expect(endings.map((ending) => (ending.kind === 'returned' ? ending.value : ending))).toEqual(
      Array.from({ length: 200 }, (_, n) => n),
    )
  })

  it('that does not answer is killed, and the script it was running is stopped', async () => {
    await run('1')
    const [pid = 0] = pool.pids()
    process.kill(pid, 'SIGSTOP')
    const stuck = run('2', { limits: { durationMs: 100 } })
    expect(await stuck).toMatchObject({ kind: 'stopped', code: 'TOOL_003', limit: 'wall_clock' })
    await until(() => !isAlive(pid))
    expect(await run('3')).toMatchObject({ kind: 'returned', value: 3 })
  })

  it('has no environment', async () => {
    await run('1')
    const [pid = 0] = pool.pids()
    expect(await readText(`/proc/${pid}/environ`, 'utf8')).not.toMatch(/PATH=|HOME=|USER=/)
  })

  it('is gone once the pool is closed, and what waited is rejected', async () => {
    const { ending } = await waitingCall()
    const [pid = 0] = pool.pids()
    await pool.close()
    await expect(ending).rejects.toMatchObject({ code: 'AGENT_010' })
    expect(isAlive(pid)).toBe(false)
    await expect(run('1')).rejects.toMatchObject({ code: 'AGENT_010' })
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

describe('an abort', () => {
  it('ends a waiting call with its reason and frees the slot', async () => {
    const abort = new AbortController()
    const { ending } = await waitingCall(abort.signal)
    abort.abort(new Error('cancelled by the user'))
    await expect(ending).rejects.toThrow('cancelled by the user')
    expect(await run('4')).toMatchObject({ kind: 'returned', value: 4 })
  })

  it('ends a computing call at once and the pool goes on', async () => {
    const abort = new AbortController()
    const spinning = run('while True:\n    pass', {}, abort.signal)
    await until(() => pool.pids().length > 0)
    abort.abort(new Error('stop'))
    await expect(spinning).rejects.toThrow('stop')
    expect(await run('5')).toMatchObject({ kind: 'returned', value: 5 })
  })

  it('before the call runs nothing', async () => {
    await expect(run('1', {}, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
  })
})
