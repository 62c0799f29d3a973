import { describe, expect, it } from 'vitest'
import { checkScript } from './check-script.ts'

const head = 'from grail import Input, external\n'
const reading =
  '@external\nasync def read_file(\n    path: str,\n    limit: int = 1,\n) -> str:\n    """Doc.\n\n    More."""\n    ...\n'

async function places(source: string): Promise<string[]> {
  const { faults } = await checkScript(source, 'typed.pym')
  return faults.filter(({ code }) => code === 'E100').map(({ line, column }) => `${line}:${column}`)
}

describe('typeFaults', () => {
  it.each([
    ['behind characters of two UTF-16 units', 'x = "é漢😀"; y = "a" + 1\ny', ['1:17']],
    ['behind a tab', 'x = 1\nif x:\n\tx = "a" + 1\nx', ['3:6']],
    ['in a file with CRLF', 'x = 1\r\ny = "a" + 1\r\ny\r\n', ['2:5']],
    ['in a file with a byte order mark', '\uFEFFx = "a" + 1\nx', ['1:5']],
    ['behind a declaration on its line', `${head}x: int = Input("x"); y = x + "a"\ny`, ['2:26']],
    ['behind a declaration of several lines', `${head}x: int = Input(\n  "x",\n)\nx + "a"`, ['5:1']],
    ['behind an external of several lines', `${head}${reading}text = await read_file("a")\ntext + 1`, ['12:1']],
  ])('points at the author’s place %s', async (_, source, expected) => {
    expect(await places(source)).toEqual(expected)
  })

  it.each([
    ['an argument of another type', 'await read_file(1)', ['11:17']],
    ['a missing argument', 'await read_file()', ['11:7']],
    ['an unknown argument', 'await read_file("a", lines=2)', ['11:22']],
    ['an answer that nothing awaits', 'text = read_file("a")\ntext.lower()', ['12:1']],
  ])('finds %s in the call of an external', async (_, call, expected) => {
    expect(await places(`${head}${reading}${call}`)).toEqual(expected)
  })

  it('takes an input with the default None for what may be None', async () => {
    expect(await places(`${head}x: str = Input("x", default=None)\nx.upper()`)).toEqual(['3:1'])
    expect(await places(`${head}x: str = Input("x", default=None)\ny = "" if x is None else x.upper()\ny`)).toEqual([])
  })

  it('brings in no name that the script did not import', async () => {
    expect(await places('def f(x: Any) -> int:\n  return 1\nf(1)')).toEqual(['1:10'])
  })

  it('finds type errors beside other faults, and not twice inside one', async () => {
    const source = `${head}class A:\n  y: int = "a"\nlaunch = lambda a: a.b\nx = "a" + 1\nx`
    const { faults } = await checkScript(source, 'bad.pym')
    expect(faults.map(({ code, line }) => `${code} ${line}`)).toEqual(['E001 2', 'E100 3', 'E012 4', 'E100 5'])
  })
})
