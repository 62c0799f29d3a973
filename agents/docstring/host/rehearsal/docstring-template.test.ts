import { describe, expect, it } from 'vitest'
import { docstringFor, summaryFor } from './docstring-template.ts'
import { Signature } from './signature.ts'

type Given = Partial<Omit<Signature, 'name' | 'parameters'>> & { parameters?: string[] }

function signature(name: string, given: Given = {}): Signature {
  const parameters = (given.parameters ?? []).map((parameter) => ({ name: parameter, kind: 'positional_or_keyword' }))
  return Signature.parse({ kind: 'function', has_docstring: false, ...given, name, parameters })
}

const method = { kind: 'method', parameters: ['self'] }

describe('summaryFor', () => {
  it.each<[string, Given, string]>([
    ['get_total_price', {}, 'Get the total price.'],
    ['_load_config', { parameters: ['path'] }, 'Load the config.'],
    ['find_by_id', method, 'Find by id.'],
    ['is_prime', { parameters: ['n'] }, 'Return whether it is prime.'],
    ['should_retry', { parameters: ['error'] }, 'Return whether it should retry.'],
    ['must_retry', {}, 'Return whether it must retry.'],
    ['parse', { parameters: ['text', 'strict'] }, 'Parse `text`.'],
    ['save', { kind: 'method' }, 'Save.'],
    ['close', method, 'Close.'],
    ['OrderLine', { kind: 'class' }, 'Define the class `OrderLine`.'],
    ['cached_until', { kind: 'class' }, 'Define the class `cached_until`.'],
    ['ConfigError', { kind: 'class' }, 'Signal the error `ConfigError`.'],
    ['OutOfStock', { kind: 'class', bases: ['InventoryError'] }, 'Signal the error `OutOfStock`.'],
    ['test_normalize_sku', {}, 'Check `normalize_sku`.'],
    ['total', { ...method, decorators: ['property'] }, 'Return the value of `total`.'],
    ['total', { ...method, decorators: ['total.setter'] }, 'Set the value of `total`.'],
    ['total', { ...method, decorators: ['total.deleter'] }, 'Delete the value of `total`.'],
    ['muted', { yields: true, decorators: ['contextmanager'] }, 'Provide the context `muted`.'],
    ['matching', { yields: true }, 'Yield the results of `matching`.'],
    ['charm', { parameters: ['price'], returns_value: true }, 'Return the result of `charm`.'],
    ['valuation_report', { returns: 'str' }, 'Return the result of `valuation_report`.'],
    ['main', { returns: 'None' }, 'Carry out the step `main`.'],
    ['__get__', { kind: 'method', parameters: ['instance'] }, 'Implement `__get__`.'],
    ['_', {}, 'Carry out the step `_`.'],
  ])('says what %s with %o does', (name, given, summary) => {
    expect(summaryFor(signature(name, given))).toBe(summary)
  })
})

describe('docstringFor', () => {
  const full = Signature.parse({
    name: 'get_total_price',
    kind: 'function',
    has_docstring: false,
    parameters: [
      { name: 'items', annotation: 'list[Item]', default: null, kind: 'positional_or_keyword' },
      { name: 'tax_rate', annotation: 'float', default: '0.2', kind: 'positional_or_keyword' },
      { name: 'args', annotation: null, default: null, kind: 'var_positional' },
      { name: 'dry_run', annotation: null, default: 'False', kind: 'keyword_only' },
      { name: 'kwargs', annotation: null, default: null, kind: 'var_keyword' },
    ],
    returns: 'float',
    returns_value: true,
    raises: ['ValueError', 'ValueError'],
  })

  it('lays out every section in the google style', () => {
    expect(docstringFor(full)).toBe(`Get the total price.

Args:
    items (list[Item]): The value of items.
    tax_rate (float): The value of tax_rate. Defaults to 0.2.
    *args: Additional positional arguments.
    dry_run: The value of dry_run. Defaults to False.
    **kwargs: Additional keyword arguments.

Returns:
    float: The result.

Raises:
    ValueError: Raised in the body.`)
  })

  it('lays out the same content in the numpy and sphinx styles', () => {
    const short = { ...full, parameters: full.parameters.slice(0, 1), raises: [] }
    expect(docstringFor({ ...short, style: 'numpy' })).toBe(
      'Get the total price.\n\nParameters\n----------\nitems : list[Item]\n    The value of items.\n\nReturns\n-------\nfloat\n    The result.',
    )
    expect(docstringFor({ ...short, style: 'sphinx' })).toBe(
      'Get the total price.\n\n:param items: The value of items.\n:type items: list[Item]\n:returns: The result.\n:rtype: float',
    )
  })

  it('writes no sections in the plain style, and no types where the repository names none', () => {
    expect(docstringFor({ ...full, style: 'plain' })).toBe('Get the total price.')
    expect(docstringFor({ ...full, types: false })).toContain('    items: The value of items.\n')
    expect(docstringFor({ ...full, types: false })).toContain('Returns:\n    The result.')
    expect(docstringFor({ ...full, style: 'sphinx', types: false })).not.toMatch(/:r?type/)
  })

  it.each(['google', 'numpy', 'sphinx', 'plain'] as const)('stays within the lines it has in %s style', (style) => {
    const parameters = full.parameters.map((one) => ({ ...one, annotation: `dict[${'Mapping, '.repeat(9)}int]` }))
    const narrow = { ...full, parameters, style, summary_characters: 15, line_characters: 40 }
    const [first = '', ...lines] = docstringFor(narrow).split('\n')
    expect(first.length).toBeLessThanOrEqual(15)
    expect(Math.max(0, ...lines.map((line) => line.length))).toBeLessThanOrEqual(40)
    expect(lines.filter((line) => line !== line.trimEnd())).toEqual([])
  })

  it('describes a generator by what it yields', () => {
    const given = { ...full, name: 'iter_lines', parameters: [], raises: [], yields: true, returns: 'Iterator[str]' }
    expect(docstringFor(given)).toBe('Yield the results of `iter_lines`.\n\nYields:\n    str: The next item.')
  })

  it('describes a class that is given to a method, and not the one a class method is called on', () => {
    const parameters = [{ name: 'cls', annotation: 'type' }]
    expect(docstringFor({ ...full, parameters, decorators: [] })).toContain('cls (type):')
    expect(docstringFor({ ...full, parameters, decorators: ['@classmethod'] })).not.toContain('cls')
  })

  it('indents its sections as the file is indented', () => {
    expect(docstringFor({ ...full, style: 'google', indent: '  ' })).toMatch(/Args:\n {2}\S/)
    expect(docstringFor({ ...full, style: 'numpy', indent: '\t' })).toMatch(/-\n\S.*\n\t\S/)
  })

  it('leaves out sections that would say nothing', () => {
    expect(docstringFor(signature('close', { ...method, returns: 'None' }))).toBe('Close.')
    expect(docstringFor(signature('OrderLine', { kind: 'class', parameters: ['sku'] }))).toBe(
      'Define the class `OrderLine`.',
    )
  })

  it('contains nothing that would end or bend a triple-quoted string', () => {
    const parameters = [{ name: 'sep', annotation: 'str', default: String.raw`'\n"""'`, kind: 'keyword_only' }]
    expect(docstringFor({ ...full, parameters })).not.toMatch(/"""|\\/)
  })

  it('breaks long lines with a deeper indentation, and leaves out a type that would have to be broken', () => {
    const annotation = `dict[${Array.from({ length: 12 }, (_, i) => `Type${i}`).join(', ')}]`
    const parameters = [{ name: 'table', annotation, default: null, kind: 'keyword_only' }]
    const sphinx = docstringFor({ ...full, parameters, style: 'sphinx' }).split('\n')
    expect(Math.max(...sphinx.map((line) => line.length))).toBeLessThanOrEqual(76)
    expect(sphinx).toContainEqual(expect.stringMatching(/^ {4}\S/))
    expect(docstringFor({ ...full, parameters })).toContain('Args:\n    table: The value of table.\n')
  })
})
