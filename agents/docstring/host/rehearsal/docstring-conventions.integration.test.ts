import { afterAll, expect, it } from 'vitest'
import { defaultPathRules } from '#domain/path-rules.ts'
import { openTestLinter } from '#languages/lint/test-linter.fixture.ts'
import { docstringFor } from './docstring-template.ts'
import { Signature } from './signature.ts'

const linter = await openTestLinter()
afterAll(() => linter.close())

const parameters = [
  { name: 'items', annotation: 'list[Item]', default: null, kind: 'positional' },
  { name: 'rate', annotation: 'float', default: '0.2', kind: 'positional' },
  { name: 'args', annotation: 'int', default: null, kind: 'var_positional' },
  { name: 'dry_run', annotation: 'bool', default: 'False', kind: 'keyword' },
  { name: 'kwargs', annotation: null, default: null, kind: 'var_keyword' },
]
const signature = '(\n    items: list[Item], rate: float = 0.2, *args: int, dry_run: bool = False, **kwargs\n)'

/** Definitions of many names, as the rehearsal model would describe them. */
function moduleOf(style: Signature['style'], types: boolean): string {
  const names = ['get_total_price', 'is_valid', 'charm', 'from_json', 'setup_logging', 'on_order', 'by_actor', 'main']
  const functions = names.map((name) => {
    const about = { name, kind: 'function', has_docstring: false, parameters, returns: 'float', returns_value: true }
    const docstring = docstringFor(Signature.parse({ ...about, raises: ['ValueError'], style, types }))
    return `def ${name}${signature} -> float:\n${written(docstring)}    raise ValueError\n`
  })
  const classes = ['OrderLine', 'HTTPServer', 'OutOfStockError', 'cached_until'].map((name) => {
    const docstring = docstringFor(Signature.parse({ name, kind: 'class', has_docstring: false, style, types }))
    return `class ${name}:\n${written(docstring)}\n    x = 1\n`
  })
  return `"""Prices of a shop."""\n\n\n${[...functions, ...classes].join('\n\n')}`
}

function written(docstring: string): string {
  const lines = docstring.split('\n').map((line, at) => (line === '' || at === 0 ? line : `    ${line}`))
  return lines.length === 1 ? `    """${docstring}"""\n` : `    """${lines.join('\n')}\n    """\n`
}

it.each([
  ['google', 'google'],
  ['numpy', 'numpy'],
  ['sphinx', 'pep257'],
  ['plain', 'pep257'],
] as const)(
  'a docstring of the rehearsal model in %s style meets the convention %s of pydocstyle',
  async (style, convention) => {
    for (const types of [true, false]) {
      const lint = { select: ['D', 'E501', 'W'], pydocstyle: { convention } }
      const rules = { ...defaultPathRules.lint, options: { 'line-length': 100, lint } }
      const { diagnostics, syntaxErrors } = await linter.lint(moduleOf(style, types), rules)
      expect(syntaxErrors).toEqual([])
      expect(diagnostics.map(({ code, message, line }) => `${line}: ${code} ${message}`)).toEqual([])
    }
  },
)
