import { describe, expect, it } from 'vitest'
import { head, useProbePool } from './probe-pool.fixture.ts'
import type { RunEnding } from './script-pool.ts'

const probe = useProbePool()
const declared = `${head}from typing import Any, Literal

@external
async def find(name: str, kind: Literal["a", "b"] = "a", limit: int | None = None) -> list[dict[str, int]]: ...

`
const untyped = `${head}from typing import Any\n\n@external\ndef ask(value: Any) -> Any: ...\n\n`

function find(source: string, answer: () => unknown, calls: unknown[] = []): Promise<RunEnding> {
  return probe.run(`${declared}${source}`, {
    externals: {
      find: (args) => {
        calls.push(args)
        return answer()
      },
    },
  })
}

describe('the arguments of an external', () => {
  it.each([
    ['await find(1)', 'find(): expected name to be a string, got: integer'],
    ['await find("x", "c")', 'find(): kind must be one of ["a", "b"], got: "c"'],
    ['await find("x", limit=1.5)', 'find(): expected limit to be an integer or null, got: number'],
    ['__find("x")', 'find() takes 3 arguments, 1 given'],
  ])('that do not fit its declaration are a TypeError of the script: %s', async (call, message) => {
    const calls: unknown[] = []
    const ending = await find(
      `try:\n    ${call}\nexcept TypeError as fault:\n    text = str(fault)\ntext`,
      () => [],
      calls,
    )
    expect(ending).toMatchObject({ kind: 'returned', value: message })
    expect(calls).toEqual([])
  })

  it('may be named like the parts of every object', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    const stubs = names.map((name) => `@external\ndef ${name}(a: str) -> dict[str, str]: ...\n`).join('')
    const calls = names.map((name) => `${name}("${name}")`).join(', ')
    const externals = Object.fromEntries(
      names.map((name) => [name, ([text]: unknown[]) => JSON.parse(`{"${String(text)}": "${String(text)}"}`)]),
    )
    const ending = await probe.run(`${head}${stubs}all = [${calls}]\nall`, { externals })
    expect(JSON.stringify(ending)).toContain(JSON.stringify(names).replaceAll(/"([^"]+)"/g, '{"$1":"$1"}'))
    const undeclared = probe.run(`${head}@external\ndef toString() -> str: ...\ntoString()`)
    await expect(undeclared).rejects.toMatchObject({ code: 'AGENT_001' })
  })

  it('are known by their normal form when their names are not ASCII', async () => {
    const source = `${head}größe: int = Input("größe")\n@external\ndef ﬁnd(n: int) -> int: ...\nfind(größe)`
    const ending = await probe.run(source, { inputs: { größe: 3 }, externals: { ﬁnd: ([n]) => Number(n) + 1 } })
    expect(ending).toMatchObject({ kind: 'returned', value: 4 })
  })
})

describe('what the host answers', () => {
  it.each<[string, unknown, RegExp]>([
    [
      'of another type',
      [{ a: 'x' }],
      /^the answer of the external find does not match its declaration: expected its answer\[0\]\.a/,
    ],
    ['that is undefined', undefined, /does not match its declaration/],
    ['that is nested without end', cycle(), /nested deeper than 64/],
  ])('%s is an error of the host, which no script hides', async (_, answer, message) => {
    const source = 'try:\n    await find("x")\nexcept Exception:\n    pass\n1'
    await expect(find(source, () => answer)).rejects.toMatchObject({
      code: 'TOOL_004',
      message: expect.stringMatching(message),
    })
    expect(await probe.run('2')).toMatchObject({ value: 2 })
  })

  it.each<[string, unknown, unknown]>([
    ['an object with prototype keys', JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}'), undefined],
    ['a lone surrogate', 'a\ud800', 'a\ufffd'],
    ['a promise of a promise', Promise.resolve(Promise.resolve([1])), [1]],
  ])('reaches the script as plain JSON: %s', async (_, answer, seen) => {
    const ending = await probe.run(`${untyped}ask(ask(None))`, { externals: { ask: ([v]) => v ?? answer } })
    expect(JSON.stringify(ending)).toContain(JSON.stringify(seen ?? answer))
  })

  it('and is too large is a ValueError that the script may catch', async () => {
    const source = `${untyped}try:\n    ask(1)\nexcept ValueError as fault:\n    text = str(fault)\ntext`
    const ask = () => Array.from({ length: 3_000_000 }, () => 0)
    const ending = await probe.run(source, { externals: { ask } })
    expect(ending).toMatchObject({ value: expect.stringMatching(/^the answer of ask cannot be taken: /) })
  })
})

function cycle(): unknown[] {
  const value: unknown[] = []
  value.push(value)
  return value
}
