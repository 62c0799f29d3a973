import { describe, expect, it } from 'vitest'
import { montyCode } from './compiled-script.ts'
import { parseScript } from './parse-script.ts'

describe('parseScript', () => {
  it('reads inputs with types, literal defaults and what makes them optional', async () => {
    const { declarations, faults } = await parseScript(
      [
        'a: str = Input("a")',
        'b: int | None = Input("b", default=None)',
        "c: list[str] = Input('c', default=[])",
        'd: dict[str, int] = Input("d", default={"k": -1})',
        'e: str = Input("e", default="tab\\t\\u00e9\\x21\\"")',
        'f: float = Input("f", default=1_000.5)',
      ].join('\n'),
    )
    expect(faults).toEqual([])
    expect(declarations.inputs).toMatchObject([
      { name: 'a', type: 'str', optional: false, schema: { type: 'string' }, line: 1, column: 1 },
      { name: 'b', optional: true, default: null, schema: { type: 'integer' } },
      { name: 'c', optional: true, default: [], schema: { type: 'array', items: { type: 'string' } } },
      { name: 'd', optional: true, default: { k: -1 } },
      { name: 'e', optional: true, default: 'tab\té!"' },
      { name: 'f', optional: true, default: 1000.5 },
    ])
    expect(declarations.inputs[0]).not.toHaveProperty('default')
  })

  it('reads externals with their parameters in order', async () => {
    const { declarations } = await parseScript(
      '@external\nasync def f(path: str, n: int = 3, *, tags: list[str] | None = None) -> dict[str, Any]: ...\n@external\ndef g() -> None: ...\n',
    )
    expect(declarations.externals).toMatchObject([
      {
        name: 'f',
        isAsync: true,
        returns: 'dict[str, Any]',
        parameters: [
          { name: 'path', type: 'str' },
          { name: 'n', default: 3 },
          { name: 'tags', default: null },
        ],
      },
      { name: 'g', isAsync: false, parameters: [], returns: 'None' },
    ])
  })

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
