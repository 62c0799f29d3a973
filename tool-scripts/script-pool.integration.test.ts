import { describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { ScriptError } from './script-call.ts'
import { head, readFile, useProbePool } from './probe-pool.fixture.ts'

const probe = useProbePool()

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
    const ending = await probe.run(source, { inputs: { path: 'a.py' }, externals })
    expect(calls).toEqual([['a.py', 7, 'b'], ['content']])
    expect(ending).toMatchObject({
      kind: 'returned',
      value: { text: 'content', pair: [1, 2], tags: ['x'], note: null, big: String(10n ** 30n), nan: 'NaN' },
      printed: 'read 7\n',
    })
  })

  it("ends with the author's own line when it lets an exception pass", async () => {
    const source = `${readFile}def load(path: str) -> str:\n    return path\n\nload("a")\nawait read_file("a")`
    const read_file = () => {
      throw new ScriptError('OddError', 'broken')
    }
    const ending = await probe.run(source, { externals: { read_file } })
    expect(ending).toMatchObject({ kind: 'raised', type: 'RuntimeError', message: 'OddError: broken', line: 8 })
    expect(await probe.run(`x = 1\n\nx / 0`)).toMatchObject({ kind: 'raised', type: 'ZeroDivisionError', line: 3 })
  })

  it('rejects with the error of the host that is no ScriptError, and the pool goes on', async () => {
    const fault = new Error('the store is down')
    const read_file = () => Promise.reject(fault)
    await expect(
      probe.run(`${readFile}try:\n    await read_file("a")\nexcept Exception:\n    pass\n1`, {
        externals: { read_file },
      }),
    ).rejects.toBe(fault)
    expect(await probe.run('1 + 1')).toMatchObject({ kind: 'returned', value: 2 })
  })

  it('does not begin without its inputs and externals', async () => {
    await expect(probe.run(`${head}x: int = Input("x")\nx`, { inputs: { x: '1' } })).rejects.toMatchObject({
      code: 'TOOL_002',
    })
    await expect(probe.run(`${readFile}await read_file("a")`)).rejects.toMatchObject({ code: 'AGENT_001' })
    expect(probe.pids()).toEqual([])
  })

  it('reaches nothing that it did not declare', async () => {
    const undeclared = await probe.run('def f() -> None:\n    __write_file("a")\nf()')
    expect(undeclared).toMatchObject({ kind: 'raised', type: 'NameError' })
    expect(await probe.run('open("/etc/passwd").read()')).toMatchObject({ kind: 'raised', type: 'PermissionError' })
  })

  it.each([
    ['a function', 'def one() -> int:\n    return two()\ndef two() -> int:\n    return 2\none()', 2],
    ['a variable', 'def one() -> int:\n    return limit\nif True:\n    limit = 3\none()', 3],
    [
      'an async function',
      'async def one() -> int:\n    return await two()\nasync def two() -> int:\n    return 4\nawait one()',
      4,
    ],
  ])('may use %s that stands below the function that uses it', async (_what, source, value) => {
    expect(await probe.run(`${head}${source}`)).toMatchObject({ kind: 'returned', value })
    expect(await probe.run(`"""Words\nof mine."""\n${source}`)).toMatchObject({ kind: 'returned', value })
  })

  it.each([
    'def f(d: dict[str, int]) -> int:\n    return len(str(d))\nd = {"a": 1}\nd[str(2)] = 3\nf(d)',
    'def f() -> int:\n    return len("abc")\nx = f()\nlen = 4\nx',
  ])("leaves Python's own functions as they are", async (source) => {
    expect(await probe.run(`${head}${source}`)).toMatchObject({ kind: 'returned' })
  })

  it('keeps the line of an exception where names are used before they stand', async () => {
    const source = `${head}def one() -> int:\n    return two()\n\n\ndef two() -> int:\n    return 1 // 0\n\n\none()`
    expect(await probe.run(source)).toMatchObject({ kind: 'raised', type: 'ZeroDivisionError', line: 7 })
  })

  it('may call the host thousands of times', async () => {
    const source = `${head}@external\ndef step(n: int) -> int: ...\ntotal = 0\nfor n in range(5000):\n    total += step(n)\ntotal`
    const ending = await probe.run(source, { externals: { step: ([n]) => n }, limits: { durationMs: 10_000 } })
    expect(ending).toMatchObject({ kind: 'returned', value: 12_497_500 })
  })
})

describe('an abort', () => {
  it('ends a waiting call with its reason and frees the slot', async () => {
    const abort = new AbortController()
    const { ending } = await probe.waitingCall({ signal: abort.signal })
    abort.abort(new Error('cancelled by the user'))
    await expect(ending).rejects.toThrow('cancelled by the user')
    expect(await probe.run('4')).toMatchObject({ kind: 'returned', value: 4 })
  })

  it('ends a computing call at once and the pool goes on', async () => {
    const abort = new AbortController()
    const spinning = probe.run('while True:\n    pass', {}, abort.signal)
    await until(() => probe.pids(), { holds: ({ length }) => length > 0 })
    abort.abort(new Error('stop'))
    await expect(spinning).rejects.toThrow('stop')
    expect(await probe.run('5')).toMatchObject({ kind: 'returned', value: 5 })
  })

  it('before the call runs nothing', async () => {
    await expect(probe.run('1', {}, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
  })
})
