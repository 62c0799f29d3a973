import { describe, expect, it } from 'vitest'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { testFunctionsOf, testNamed, withoutTests } from './test-functions.ts'

async function testsOf(language: string, text: string) {
  const loaded = await loadLanguage(language)
  return loaded.read(text, (tree) => testFunctionsOf(tree, language))
}

async function without(language: string, text: string, ...names: readonly string[]) {
  const tests = await testsOf(language, text)
  const dropped = new Set(tests.filter(({ name }) => names.includes(name)))
  return withoutTests(text, tests, dropped)
}

const pythonTests = `import unittest


class ATest(unittest.TestCase):
    def setUp(self):
        self.a = 1

    @unittest.skip("later")
    def test_one(self):
        self.assertEqual(self.a, 1)

    def test_two(self):
        pass


class BTest(unittest.TestCase):
    async def test_one(self):
        pass


def test_alone(a):
    assert a
`
const scriptTests = `import { describe, it, test } from 'node:test'

describe('f', () => {
  it('adds', () => {})

  it(\`more\`, async () => {})
})

test('alone', () => {})
await test.skip('other', () => {})
`

describe('the tests of a file', () => {
  it('are found with the classes or suites around them', async () => {
    const shown = (tests: Awaited<ReturnType<typeof testsOf>>) =>
      tests.map(({ name, suites }) => [...suites.map((suite) => suite.name), name].join('.'))
    expect(shown(await testsOf('python', pythonTests))).toEqual([
      'ATest.test_one',
      'ATest.test_two',
      'BTest.test_one',
      'test_alone',
    ])
    for (const language of ['javascript', 'typescript', 'tsx'])
      expect(shown(await testsOf(language, scriptTests))).toEqual(['f.adds', 'f.more', 'alone', 'other'])
  })

  it('are cut out with their decorators, and their class with the last of them', async () => {
    expect(await without('python', pythonTests, 'test_one')).toBe(`import unittest


class ATest(unittest.TestCase):
    def setUp(self):
        self.a = 1

    def test_two(self):
        pass


def test_alone(a):
    assert a
`)
    expect(await without('javascript', scriptTests, 'adds', 'more', 'other')).toBe(
      "import { describe, it, test } from 'node:test'\n\ntest('alone', () => {})\n",
    )
    expect(await without('python', pythonTests, 'test_one', 'test_two', 'test_alone')).toBeUndefined()
  })

  it('are recognised by the names that runners report', async () => {
    const python = await testsOf('python', pythonTests)
    const script = await testsOf('javascript', scriptTests)
    const place = (name: string, tests = python) => tests.findIndex((one) => one === testNamed(name, tests))
    expect(place('tests.test_a.ATest::test_one')).toBe(0)
    expect(place('tests.test_a.BTest::test_one')).toBe(2)
    expect(place('tests.test_a::test_alone[1-x]')).toBe(3)
    expect(place('tests.test_a.ATest::test_two (a=1.5) #2')).toBe(1)
    expect(place('tests.test_a.CTest::test_one')).toBe(-1)
    expect(place('unittest.loader._FailedTest::tests.test_a')).toBe(-1)
    expect(place('/workspace/a.test.js::f::adds', script)).toBe(0)
    expect(place('a.test.js::f > more', script)).toBe(1)
    expect(place('/workspace/a.test.js::alone', script)).toBe(2)
  })
})
