import { expect, it } from 'vitest'
import { loadLanguage } from '../syntax/parser.ts'
import { moduleUsesOf } from './module-uses.ts'
import { foldTestData } from './test-data.ts'

const python = await loadLanguage('python')

function isTestData(files: Record<string, string>, path: string): boolean {
  const uses = Object.entries(files).map(([name, source]) => {
    return [name, python.read(source, (tree) => moduleUsesOf(tree, source))] as const
  })
  return foldTestData(new Map(uses))(path)
}

const faulty = 'import os, sys\n'

it.each([
  ['test/normalizer_issue_files/E40.py', {}],
  ['tests/fixtures/package/__init__.py', {}],
  [
    'tests/_support/tasks.py',
    { 'tests/_support/tasks.py': 'from invoke import task\n\n\n@task\ndef build(c):\n    pass\n' },
  ],
  ['tests/typing/typing_plain.py', { 'tests/typing/typing_plain.py': 'import click\n\nclick.echo()\n' }],
])('a file that tests read is their data: %s', (path, files) => {
  expect(isTestData({ [path]: faulty, 'tests/test_files.py': 'import shop\n', ...files }, path)).toBe(true)
})

it.each([
  ['tests/test_shop.py', faulty, ''],
  ['tests/config.py', 'from pytest import raises\n\n\nclass Config_:\n    pass\n', ''],
  ['tests/cases.py', 'import unittest\n\n\nclass Cases(unittest.TestCase):\n    pass\n', ''],
  ['tests/prices.py', 'def test_price():\n    pass\n', ''],
  ['tests/helpers.py', faulty, 'from .helpers import shop\n'],
  ['tests/helpers.py', faulty, 'from tests.helpers import shop\n'],
  ['tests/helpers.py', faulty, 'pytest_plugins = ["tests.helpers"]\n'],
  ['tests/__snapshots__/a.py', faulty, ''],
  ['src/shop/stock.py', faulty, ''],
])('a module that is run or imported is none: %s', (path, source, other) => {
  expect(isTestData({ [path]: source, 'tests/test_other.py': other }, path)).toBe(false)
})
