import { describe, expect, it } from 'vitest'
import { applyEdits, type ChangeSet, type FileChange } from '#domain/change-set.ts'
import { changeSetId } from '#domain/ids.ts'
import { composeChangeSets } from './compose-change-sets.ts'
import { joinTests } from './join-tests.ts'

const inClass = (name: string, imports = `from stock import ${name}`) =>
  `import unittest\n\n${imports}\n\n\nclass ${name}Test(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(${name}(1), 1)\n`
const suite = (name: string, uses = 'describe, expect, test') =>
  `import { ${uses} } from 'vitest'\nimport { ${name} } from './stock.ts'\n\ndescribe('${name}', () => {\n  test('it', () => {\n    expect(${name}(1)).toBe(1)\n  })\n})\n`

function joined(path: string, texts: readonly string[]): string {
  const all = [texts, texts.toReversed()].map((some) => joinTests(path, some))
  expect(all[0]).toEqual(all[1])
  return all[0]?.kind === 'joined' ? all[0].text : `apart: ${all[0]?.reason}`
}

describe('the tests of a module that several change sets write', () => {
  it('are one file in Python, with each import once, sorted as isort sorts them', () => {
    const decimal = inClass(
      'total',
      'import pytest\nfrom decimal import Decimal\n\nfrom stock import LIMIT, Cart, total',
    )
    expect(joined('tests/test_stock.py', [inClass('count'), decimal])).toBe(
      `import unittest
from decimal import Decimal

import pytest

from stock import LIMIT, Cart, count, total


class countTest(unittest.TestCase):
    def test_it(self):
        self.assertEqual(count(1), 1)


class totalTest(unittest.TestCase):
    def test_it(self):
        self.assertEqual(total(1), 1)
`,
    )
  })

  it('are one file in TypeScript and in CommonJS', () => {
    expect(joined('src/stock.test.ts', [suite('total', 'describe, it'), suite('count')])).toBe(
      `import { describe, expect, it, test } from 'vitest'
import { count, total } from './stock.ts'
${suite('count').slice(suite('count').indexOf('\ndescribe'))}${suite('total').slice(suite('total').indexOf('\ndescribe'))}`,
    )
    const common = (name: string) =>
      `'use strict'\n\nconst assert = require('node:assert/strict')\nconst { ${name} } = require('../stock')\n\ndescribe('${name}', () => {})\n`
    expect(joined('test/stock.js', [common('b'), common('a')])).toBe(
      `'use strict'\n\nconst assert = require('node:assert/strict')\nconst { a, b } = require('../stock')\n\ndescribe('a', () => {})\n\ndescribe('b', () => {})\n`,
    )
  })

  it('say where their modules are found once, between the imports before and after that', () => {
    const text = (name: string) =>
      `import sys\n\nsys.path.insert(0, 'lib')\n\nfrom stock import ${name}\n\n\ndef test_${name}():\n    assert ${name}(1) == 1\n`
    expect(joined('tests/test_stock.py', [text('b'), text('a')])).toMatch(
      /^import sys\n\nsys\.path\.insert\(0, 'lib'\)\n\nfrom stock import a, b\n\n\ndef test_a\(\)/,
    )
  })

  it('break a long list of imports as formatters do, and read it so', () => {
    const long = (name: string) => inClass(name.repeat(15))
    const text = joined('tests/test_stock.py', [long('one'), long('two')])
    expect(text).toContain(`from stock import (\n    ${'one'.repeat(15)},\n    ${'two'.repeat(15)},\n)\n`)
    expect(joined('tests/test_stock.py', [text, inClass('count')])).toContain('    count,\n')
  })

  it.each([
    ['have a class of one name', inClass('a'), inClass('a').replace('1), 1', '2), 2'), 'the name aTest'],
    ['import one name from two modules', inClass('a'), inClass('b', 'from other import a, b'), 'the name a'],
    ['import in the middle', inClass('a'), `${inClass('b')}\n\nimport os\n`, 'after its first statement'],
    ['begin otherwise', inClass('a'), `"""Tests."""\n\n${inClass('b')}`, 'begin in different ways'],
    [
      'find their modules otherwise',
      inClass('a'),
      `import sys\nsys.path.insert(0, 'x')\n${inClass('b')}`,
      'different ways',
    ],
  ])('stay apart where they %s', (_, one, other, reason) => {
    expect(joined('tests/test_stock.py', [one, other])).toContain(reason)
  })

  it('are read in a moment, whatever is in them', () => {
    const long = 50_000
    const hostile = [
      `from a import${' '.repeat(long)}(`,
      `import x\n${'#\n'.repeat(long)}`,
      `x${': a'.repeat(long)}`,
      'const {\n'.repeat(long),
    ]
    const began = performance.now()
    for (const path of ['tests/test_a.py', 'a.test.ts']) for (const text of hostile) joined(path, [text, inClass('a')])
    expect(performance.now() - began).toBeLessThan(2_000)
  })

  it('stay apart in a file that is no file of tests', () => {
    expect(joined('stock/names.py', ['import a\n', 'import b\n'])).toBe('apart: it is no file of tests')
  })
})

describe('change sets of one file of tests', () => {
  const path = 'tests/test_stock.py'
  const setOf = (operationId: string, change: FileChange): ChangeSet => {
    const files = [change]
    return {
      changeSetId: changeSetId(operationId, files),
      operationId,
      bundle: 'test',
      nodeId: 'n',
      files,
      evidence: [],
    }
  }
  const creating = (name: string) => setOf(name, { kind: 'create', path, content: inClass(name) })

  it('create it together, each can be left out, and one that clashes with another is in conflict with it alone', () => {
    const [a, b, c] = ['a', 'b', 'c'].map(creating)
    const clashing = setOf('d', { kind: 'create', path, content: inClass('b').replace('1), 1', '2), 2') })
    if (a === undefined || b === undefined || c === undefined) throw new Error('no sets')
    const { files, conflicts } = composeChangeSets([a, b, c, clashing])
    expect(conflicts).toMatchObject([{ operationId: 'd', errorCode: 'WORK_001', with: { operationId: 'b' } }])
    expect(files).toMatchObject([{ kind: 'create', content: expect.stringContaining('from stock import a, b, c\n') }])
    const [left] = composeChangeSets([c, a]).files
    expect(left).toMatchObject({ content: expect.stringMatching(/class aTest[^]*class cTest/) })
    expect(left).toMatchObject({ content: expect.not.stringContaining('bTest') })
  })

  it('add to one that is there in the order of their texts, but replace nothing at one place', () => {
    const base = 'from stock import x\n'
    const at = base.length
    const adding = (name: string) =>
      setOf(name, {
        kind: 'edit',
        path,
        baseHash: 'h',
        edits: [
          { start: at - 1, end: at - 1, text: `, ${name}` },
          { start: at, end: at, text: `\n\ndef test_${name}(): ...\n` },
        ],
      })
    const [file] = composeChangeSets([adding('b'), adding('a')]).files
    const text = file?.kind === 'edit' ? Buffer.from(applyEdits(Buffer.from(base), file.edits)).toString() : ''
    expect(text).toBe('from stock import x, a, b\n\n\ndef test_a(): ...\n\n\ndef test_b(): ...\n')
    const importing = (name: string) => [
      { start: 0, end: 0, text: `from stock import ${name}\n` },
      { start: at - 1, end: at - 1, text: `, Cart, ${name}` },
    ]
    const importers = ['b', 'a'].map((name) =>
      setOf(name, { kind: 'edit', path, baseHash: 'h', edits: importing(name) }),
    )
    expect(composeChangeSets(importers).files).toMatchObject([
      { edits: [{ text: 'from stock import a, b\n' }, { text: ', Cart, a, b' }] },
    ])
    const replacing = setOf('c', { kind: 'edit', path, baseHash: 'h', edits: [{ start: 0, end: at, text: '' }] })
    expect(composeChangeSets([adding('a'), replacing]).conflicts).toHaveLength(1)
    const elsewhere = (set: ChangeSet) => ({
      ...set,
      files: set.files.map((change) => ({ ...change, path: 'stock.py' })),
    })
    expect(composeChangeSets([elsewhere(adding('a')), elsewhere(adding('b'))]).conflicts).toHaveLength(1)
  })
})
