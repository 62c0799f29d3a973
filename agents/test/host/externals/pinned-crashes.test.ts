import { expect, it } from 'vitest'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { testFunctionsOf } from '#stages/operate/evidence/test-functions.ts'
import { pinnedCrashes } from './write-tests.ts'

const languages = { python: await loadLanguage('python'), javascript: await loadLanguage('javascript') }

function pinned(language: keyof typeof languages, text: string, source: string): string[] {
  const tests = languages[language].read(text, (tree) => testFunctionsOf(tree, language))
  const found = pinnedCrashes(tests, { text, source, isPython: language === 'python' })
  return found.map(({ test, error }) => `${test.name} ${error}`)
}

const inPython = (body: string) => `def test_usual():\n    assert f(1) == 1\n\n\ndef test_odd():\n    ${body}\n`
const plain = 'def f(row):\n    return row["a"]\n'

it.each([
  ['with pytest.raises(KeyError):\n        f({})', plain, ['test_odd KeyError']],
  ['self.assertRaises(TypeError, f, None)', plain, ['test_odd TypeError']],
  ['with pytest.raises((IndexError, KeyError)):\n        f({})', plain, ['test_odd IndexError']],
  ['with pytest.raises((ValueError, KeyError)):\n        f({})', plain, ['test_odd KeyError']],
  ['with pytest.raises(expected_exception=KeyError):\n        f({})', plain, ['test_odd KeyError']],
  ['try:\n        f({})\n    except KeyError:\n        pass', plain, ['test_odd KeyError']],
  ['try:\n        f({})\n    except:\n        pass', plain, ['test_odd BaseException']],
  ['with pytest.raises(Exception):\n        f({})', plain, ['test_odd Exception']],
  ['with pytest.raises(KeyError):\n        f({})', `${plain}    # Raises KeyError without an a.\n`, []],
  ['with pytest.raises(ValueError):\n        f("x")', plain, []],
  ['with pytest.raises(shop.OutOfStock):\n        f({})', plain, []],
])('in Python, a crash that nothing in the code names is no promise: %s', (body, source, expected) => {
  expect(pinned('python', inPython(body), source)).toEqual(expected)
})

it.each([
  ['assert.throws(() => f(null), TypeError)', 'f = (row) => row.a', ['odd TypeError']],
  ["assert.throws(() => f(null), { name: 'TypeError' })", 'f = (row) => row.a', ['odd TypeError']],
  ['expect(() => f(null)).toThrow()', 'f = (row) => row.a // it does not throw', ['odd Exception']],
  ['expect(() => f(null)).toThrow()', 'f = (row) => row.a', ['odd Exception']],
  ['assert.throws(() => f(null), TypeError)', "f = (row) => { if (!row) throw new TypeError('no row') }", []],
])('and in JavaScript: %s', (body, source, expected) => {
  expect(pinned('javascript', `test('usual', () => f(1))\ntest('odd', () => { ${body} })\n`, source)).toEqual(expected)
})
