import { describe, expect, it } from 'vitest'
import { montyCode } from './compiled-script.ts'
import { parseScript } from './parse-script.ts'

describe('parseScript', () => {
  it('takes only module-level declarations', async () => {
    const { declarations } = await parseScript(
      'def f():\n  x: int = Input("x")\n  @external\n  def g() -> int: ...\n  return x\nif True:\n  y: int = Input("y")\n',
    )
    expect(declarations).toEqual({ inputs: [], externals: [] })
  })

  it.each(['tuple[int, str]', 'dict[int, str]', 'Thing', '"str"', 'list[Thing]'])(
    'refuses the type %s',
    async (annotation) => {
      const { faults } = await parseScript(`x: ${annotation} = Input("x")`)
      expect(faults).toMatchObject([{ code: 'E008', line: 1 }])
    },
  )

  it.each(['Input("x", default=f())', 'Input(name)', 'Input("x", 1)', 'Input(f"x")', 'Input()'])(
    'refuses %s',
    async (call) => {
      const { faults } = await parseScript(`x: int = ${call}`)
      expect(faults).toMatchObject([{ code: 'E008' }])
    },
  )

  it('never throws on broken text', async () => {
    for (const text of ['', '\uFEFF', '((((', 'x: int = Input(', '@external', 'def', '\0', '"""', 'x = "\ud800"']) {
      await expect(parseScript(text)).resolves.toHaveProperty('faults')
    }
  })

  it('keeps every line of the code for Monty under its own number', async () => {
    const source =
      '\uFEFFfrom grail import (\n  Input,\n  external,\n)\nx: int = Input(\n  "x",\n)\n\n@external\nasync def f(\n  a: int,\n) -> int:\n  """Doc.\n\n  More."""\n  ...\n\ny = x\ny\n'
    const code = montyCode(await parseScript(source)).split('\n')
    const lines = source.split('\n')
    expect(code).toHaveLength(lines.length)
    expect(code.slice(17)).toEqual(lines.slice(17))
    expect(code.join('\n')).toContain('return __f(a)')
    expect(code.join('\n')).not.toMatch(/grail|Input|external/)
  })
})
