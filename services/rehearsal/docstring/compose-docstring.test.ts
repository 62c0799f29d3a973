import { describe, expect, it } from 'vitest'
import { composeDocstring, summaryLine } from './compose-docstring.ts'
import { Signature } from './signature.ts'

type Given = Partial<Omit<Signature, 'name' | 'parameters'>> & { parameters?: string[] }

function signature(name: string, given: Given = {}): Signature {
  const parameters = (given.parameters ?? []).map((parameter) => ({ name: parameter, kind: 'positional_or_keyword' }))
  return Signature.parse({ kind: 'function', has_docstring: false, ...given, name, parameters })
}

const method = { kind: 'method', parameters: ['self'] }

describe('summaryLine', () => {
  it.each<[string, Given, string]>([
    ['get_total_price', {}, 'Get the total price.'],
    ['is_empty', method, 'Return whether this is empty.'],
    ['is_prime', { parameters: ['n'] }, 'Return whether `n` is prime.'],
    ['are_equal', { parameters: ['a', 'b'] }, 'Return whether `a` and `b` are equal.'],
    ['should_retry', { parameters: ['error'] }, 'Return whether it should retry.'],
    ['OrderLine', { kind: 'class' }, 'Represent an order line.'],
    ['HTTPServer', { kind: 'class' }, 'Represent an HTTP server.'],
    ['Settings', { kind: 'class' }, 'Represent settings.'],
    ['ConfigError', { kind: 'class' }, 'Signal a configuration error.'],
    ['TestOrder', { kind: 'class' }, 'Group the tests of order.'],
    ['test_adds_two_numbers', {}, 'Check that it adds two numbers.'],
    ['test_total_is_zero_when_empty', {}, 'Check that total is zero when empty.'],
    ['test_login', {}, 'Check login.'],
    ['add', { parameters: ['a', 'b'] }, 'Add `a` and `b`.'],
    ['parse', { parameters: ['text', 'strict'] }, 'Parse `text`.'],
    ['save', { parameters: ['path'] }, 'Save to `path`.'],
    ['greet', { parameters: ['name'] }, 'Greet `name`.'],
    ['close', method, 'Close this instance.'],
    ['main', {}, 'Run the program.'],
    ['celsius_to_fahrenheit', { parameters: ['c'], returns_value: true }, 'Convert celsius to fahrenheit.'],
    ['from_json', { kind: 'method', parameters: ['cls', 'data'] }, 'Create an instance from JSON.'],
    ['total', { ...method, decorators: ['property'] }, 'Return the total.'],
    ['total', { ...method, decorators: ['total.setter'] }, 'Set the total.'],
    ['client', { decorators: ['@pytest.fixture(scope="module")'] }, 'Provide the client fixture.'],
    ['_load_config', { parameters: ['path'] }, 'Load the configuration.'],
    ['setup_logging', {}, 'Set up logging.'],
    ['find_by_id', { ...method }, 'Find by ID.'],
    ['user_ids', { returns_value: true }, 'Return the user IDs.'],
    ['iter_lines', { yields: true }, 'Iterate over the lines.'],
    ['classify', { parameters: ['item'], returns_value: true }, 'Classify `item`.'],
    ['charm', { parameters: ['price'], returns_value: true }, 'Return the result of `charm`.'],
    ['by_actor', { kind: 'method', returns_value: true }, 'Return the result of `by_actor`.'],
    ['exists', { kind: 'method', returns_value: true }, 'Return the result of `exists`.'],
    ['valuation_report', { returns: 'str' }, 'Return the valuation report.'],
    ['_really_load', { parameters: ['path'] }, 'Carry out the step `_really_load`.'],
    ['matching', { yields: true }, 'Yield the results of `matching`.'],
    ['muted', { yields: true, decorators: ['contextmanager'] }, 'Provide the context `muted`.'],
    ['issued', { kind: 'method', decorators: ['property'] }, 'Return the value of `issued`.'],
    ['ledger_from_dicts', { parameters: ['records'], returns_value: true }, 'Make a ledger from dicts.'],
    ['save', { kind: 'method' }, 'Save.'],
    ['clear', { kind: 'method' }, 'Clear this instance.'],
    ['unsubscribe', {}, 'Unsubscribe.'],
    ['is_older_than', { kind: 'method', parameters: ['other'] }, 'Return whether this is older than `other`.'],
    ['OutOfStock', { kind: 'class', bases: ['InventoryError'] }, 'Signal the error `OutOfStock`.'],
    ['cached_until', { kind: 'class' }, 'Define the class `cached_until`.'],
    ['test_normalize_sku', {}, 'Check `normalize_sku`.'],
    ['as_money', { parameters: ['value'] }, 'Return `value` as money.'],
    ['is_late', { kind: 'method', parameters: ['today'] }, 'Return whether it is late.'],
    ['on_order', { kind: 'method', parameters: ['sku'], returns_value: true }, 'Return the result of `on_order`.'],
    ['create', { parameters: ['supplier'] }, 'Create from `supplier`.'],
    ['__get__', { kind: 'method', parameters: ['instance'] }, 'Implement `__get__`.'],
    ['__init__', method, 'Initialize the instance.'],
    ['__len__', method, 'Return the number of items.'],
    ['_', {}, 'Handle a value that is not used.'],
  ])('says what %s with %o does', (name, given, summary) => {
    expect(summaryLine(signature(name, given))).toBe(summary)
  })
})

describe('composeDocstring', () => {
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
    expect(composeDocstring(full)).toBe(`Get the total price.

Args:
    items (list[Item]): The items.
    tax_rate (float): The tax rate. Defaults to 0.2.
    *args: Additional positional arguments.
    dry_run: The dry run flag. Defaults to False.
    **kwargs: Additional keyword arguments.

Returns:
    float: The total price.

Raises:
    ValueError: Raised in the body.`)
  })

  it('lays out the same content in the numpy and sphinx styles', () => {
    const short = { ...full, parameters: full.parameters.slice(0, 1), raises: [] }
    expect(composeDocstring({ ...short, style: 'numpy' })).toBe(
      'Get the total price.\n\nParameters\n----------\nitems : list[Item]\n    The items.\n\nReturns\n-------\nfloat\n    The total price.',
    )
    expect(composeDocstring({ ...short, style: 'sphinx' })).toBe(
      'Get the total price.\n\n:param items: The items.\n:type items: list[Item]\n:returns: The total price.\n:rtype: float',
    )
  })

  it('writes no sections in the plain style, and no types where the repository names none', () => {
    expect(composeDocstring({ ...full, style: 'plain' })).toBe('Get the total price.')
    expect(composeDocstring({ ...full, types: false })).toContain('    items: The items.\n')
    expect(composeDocstring({ ...full, types: false })).toContain('Returns:\n    The total price.')
    expect(composeDocstring({ ...full, style: 'sphinx', types: false })).not.toMatch(/:r?type/)
  })

  it.each(['google', 'numpy', 'sphinx', 'plain'] as const)('stays within the lines it has in %s style', (style) => {
    const parameters = full.parameters.map((one) => ({ ...one, annotation: `dict[${'Mapping, '.repeat(9)}int]` }))
    const narrow = { ...full, parameters, style, summary_characters: 15, line_characters: 40 }
    const [first = '', ...lines] = composeDocstring(narrow).split('\n')
    expect(first.length).toBeLessThanOrEqual(15)
    expect(Math.max(0, ...lines.map((line) => line.length))).toBeLessThanOrEqual(40)
    expect(lines.filter((line) => line !== line.trimEnd())).toEqual([])
  })

  it('describes a generator by what it yields', () => {
    const given = { ...full, name: 'iter_lines', parameters: [], raises: [], yields: true, returns: 'Iterator[str]' }
    expect(composeDocstring(given)).toBe('Iterate over the lines.\n\nYields:\n    str: The next line.')
  })

  it('says of a predicate when it is true', () => {
    const given = signature('is_valid', { parameters: ['order'], returns: 'bool', returns_value: true })
    expect(composeDocstring(given)).toContain('Returns:\n    bool: True if `order` is valid, False otherwise.')
  })

  it('says that an exception is raised and does not make up when', () => {
    const given = signature('ship', { parameters: ['order'], raises: ['KeyError', 'OutOfStock'] })
    expect(composeDocstring(given)).toMatch(
      /Raises:\n    KeyError: Raised in the body.\n    OutOfStock: Raised in the body.$/,
    )
  })

  it('claims of no unknown word that it names a thing', () => {
    const text = composeDocstring(signature('charm', { parameters: ['until'], returns: 'int', returns_value: true }))
    expect(text).toContain('until: The value of until.')
    expect(text).toContain('int: The result.')
  })

  it('describes a class that is given to a method, and not the one a class method is called on', () => {
    const parameters = [{ name: 'cls', annotation: 'type' }]
    expect(composeDocstring({ ...full, parameters, decorators: [] })).toContain('cls (type):')
    expect(composeDocstring({ ...full, parameters, decorators: ['@classmethod'] })).not.toContain('cls')
  })

  it('indents its sections as the file is indented', () => {
    expect(composeDocstring({ ...full, style: 'google', indent: '  ' })).toMatch(/Args:\n {2}\S/)
    expect(composeDocstring({ ...full, style: 'numpy', indent: '\t' })).toMatch(/-\n\S.*\n\t\S/)
  })

  it('leaves out sections that would say nothing', () => {
    expect(composeDocstring(signature('close', { ...method, returns: 'None' }))).toBe('Close this instance.')
    expect(composeDocstring(signature('OrderLine', { kind: 'class', parameters: ['sku'] }))).toBe(
      'Represent an order line.',
    )
  })

  it('contains nothing that would end or bend a triple-quoted string', () => {
    const parameters = [{ name: 'sep', annotation: 'str', default: String.raw`'\n"""'`, kind: 'keyword_only' }]
    expect(composeDocstring({ ...full, parameters })).not.toMatch(/"""|\\/)
  })

  it('breaks long lines with a deeper indentation, and leaves out a type that would have to be broken', () => {
    const annotation = `dict[${Array.from({ length: 12 }, (_, i) => `Type${i}`).join(', ')}]`
    const parameters = [{ name: 'table', annotation, default: null, kind: 'keyword_only' }]
    const sphinx = composeDocstring({ ...full, parameters, style: 'sphinx' }).split('\n')
    expect(Math.max(...sphinx.map((line) => line.length))).toBeLessThanOrEqual(76)
    expect(sphinx).toContainEqual(expect.stringMatching(/^ {4}\S/))
    expect(composeDocstring({ ...full, parameters })).toContain('Args:\n    table: The table.\n')
  })
})
