import { afterAll, describe, expect, it } from 'vitest'
import { endlessScript } from './endless-script.fixture.ts'
import { checkScript } from './check-script.ts'
import { parseScript } from './parse-script.ts'
import { openTypeChecker } from './type-checker.ts'

const typeChecker = openTypeChecker()
afterAll(() => typeChecker.close())

const head = 'from grail import Input, external\n'
const reading =
  '@external\nasync def read_file(\n    path: str,\n    limit: int = 1,\n) -> str:\n    """Doc.\n\n    More."""\n    ...\n'

/** A message of megabytes, for more than the memory there is. */
const huge = doubled(18)

function doubled(lines: number): string {
  const steps = Array.from({ length: lines }, (_, line) => `a${line + 1} = (a${line}, a${line})`)
  return ['a0 = (1, "a")', ...steps, `z: int = a${lines}`, 'z'].join('\n')
}

async function places(source: string): Promise<string[]> {
  const { faults } = await checkScript(source, 'typed.pym', { typeChecker })
  return faults.filter(({ code }) => code === 'E100').map(({ line, column }) => `${line}:${column}`)
}

describe('the type checker', () => {
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

  it('gives up on a script that keeps it busy for ever, and checks the others', async () => {
    const impatient = openTypeChecker({ limitMs: 1_000 })
    const sources = ['x = 1\nx', endlessScript, 'x = "a" + 1\nx', endlessScript, 'x = "a" + 2\nx']
    const found = await Promise.all(sources.map(async (text) => impatient.faults(await parseScript(text))))
    await impatient.close()
    const gaveUp = { code: 'E100', line: 1, column: 1, message: expect.stringContaining('gave up after 1 s') }
    const wrong = { code: 'E100', line: 1, column: 5 }
    expect(found).toMatchObject([[], [gaveUp], [wrong], [gaveUp], [wrong]])
  })

  it('says so when a script ends it, and checks the others', async () => {
    const patient = openTypeChecker({ limitMs: 20_000 })
    const sources = ['x = 1\nx', huge, 'x = "a" + 1\nx']
    const found = await Promise.all(sources.map(async (text) => patient.faults(await parseScript(text))))
    await patient.close()
    expect(found).toMatchObject([
      [],
      [{ code: 'E100', line: 1, message: expect.stringContaining('the type checker ended: ') }],
      [{ code: 'E100', line: 1, column: 5 }],
    ])
  })

  it('leaves nothing when it is closed over a script that never ends', async () => {
    const closing = openTypeChecker({ limitMs: 600_000 })
    const refused = closing.faults(await parseScript(endlessScript)).catch((error: unknown) => error)
    await closing.close()
    expect(await refused).toMatchObject({ code: 'AGENT_010' })
    await expect(closing.faults(await parseScript('x = 1'))).rejects.toMatchObject({ code: 'AGENT_010' })
  })
})
