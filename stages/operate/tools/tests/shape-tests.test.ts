import { afterAll, describe, expect, it } from 'vitest'
import { openSyntaxChecker } from '../../evidence/syntax-evidence.ts'
import { extendTests } from '#agents/test/host/externals/extend-tests.ts'
import { shapeTests, type TestStyle } from './shape-tests.ts'

const syntax = openSyntaxChecker()
afterAll(() => syntax.close())

type Of = { path?: string; style?: TestStyle; label?: string; isPrefixed?: boolean; taken?: readonly string[] }

async function shaped(
  text: string,
  { path = 'tests/test_shop.py', style = 'functions', ...of }: Of = {},
): Promise<string> {
  const tests = await syntax.tests({ language: path.endsWith('.py') ? 'python' : 'typescript', text })
  const { label = 'Cart.add', isPrefixed = false, taken = [] } = of
  return shapeTests(text, tests, { path, style, label, isPrefixed, taken: new Set(taken) })
}

describe('tests as a part of the file of their module', () => {
  it('are functions with the name of what they test, each another one than those that are there', async () => {
    const text =
      'from shop import Cart\n\n\ndef test_empty():\n    ...\n\n\nasync def test_add_two():\n    ...\n\n\ndef test_cart_add_2():\n    ...\n'
    expect(await shaped(text, { taken: ['test_cart_add_2'] })).toBe(
      text
        .replace('test_empty', 'test_cart_add_empty')
        .replace('test_add_two', 'test_cart_add_two')
        .replace('add_2()', 'add_2_2()'),
    )
  })

  it('are a class that is named as the others are, without what belongs to a file alone', async () => {
    const body = (name: string) =>
      `import unittest\n\nfrom shop import Cart\n\n\nclass ${name}(unittest.TestCase):\n    def setUp(self):\n        super(${name}, self).setUp()\n\n    def test_it(self):\n        ...\n`
    const given = `"""Tests."""\n${body('Tests')}\n\nif __name__ == '__main__':\n    unittest.main()\n`
    expect(await shaped(given, { style: 'unittest' })).toBe(body('CartAddTest'))
    expect(await shaped(given, { style: 'unittest', isPrefixed: true })).toBe(body('TestCartAdd'))
    expect(await shaped(given, { style: 'unittest', taken: ['CartAddTest'] })).toBe(body('CartAddTest2'))
    await expect(shaped(given)).rejects.toThrow('functions for pytest')
    await expect(shaped('def test_it(): ...\n', { style: 'unittest' })).rejects.toThrow('extends unittest.TestCase')
  })

  it('are one suite, which gets its function from where the tests come from', async () => {
    const of = { path: 'src/shop.test.ts', style: 'suites', label: 'add' } as const
    const head = (names: string) => `import { ${names} } from 'vitest'\nimport { add } from './shop.ts'\n\n`
    const test = "test('adds', () => {\n  expect(add(1)).toBe(2)\n})\n"
    const whole = `describe('add', () => {\n${test.replaceAll(/^(?=.)/gm, '  ')}})\n`
    expect(await shaped(`${head('expect, test')}${test}`, of)).toBe(`${head('describe, expect, test')}${whole}`)
    expect(await shaped(`${head('describe, expect, test')}${whole}`, of)).toBe(
      `${head('describe, expect, test')}${whole}`,
    )
    expect(await shaped(test, of)).toContain(whole)
  })

  it('come after those that are there, with their imports among the others, whatever ends the lines', () => {
    const there = 'import unittest\n\nfrom shop import a\n\n\nclass ATest(unittest.TestCase):\n    ...\n'
    const added =
      'import unittest\nfrom decimal import Decimal\n\nimport pytest\n\nfrom shop import a, b\n\n\nclass BTest(unittest.TestCase):\n    ...\n'
    const both = `import unittest\nfrom decimal import Decimal\n\nfrom shop import a, b\n\nimport pytest\n${there.slice(there.indexOf('\n\n\nclass') + 1)}${added.slice(added.indexOf('\n\n\nclass') + 1)}`
    expect(extendTests('tests/test_shop.py', there, added)).toBe(both)
    const windows = (text: string) => text.replaceAll('\n', '\r\n')
    expect(extendTests('tests/test_shop.py', windows(there), added)).toBe(windows(both))
  })

  it('are added with no second import of a name that the file has from elsewhere', () => {
    const there = 'from shop import Cart\n\n\ndef test_cart():\n    assert Cart()\n'
    const added = 'from shop.cart import Cart, total\n\n\ndef test_total():\n    assert total(Cart()) == 0\n'
    const text = extendTests('tests/test_shop.py', there, added)
    expect(text.match(/import .*/g)).toEqual(['import Cart', 'import total'])
  })
})
