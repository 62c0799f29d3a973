import { expect, it } from 'vitest'
import { loadLanguage } from './parser.ts'
import { treeLines } from './tree-lines.ts'

it('shows a tree as a query has to name it', async () => {
  const python = await loadLanguage('python')
  const linesOf = (text: string, tokens: boolean) => python.read(text, (tree) => treeLines(tree, { tokens }))
  expect(linesOf('def f():\n  pass\n', false)).toEqual([
    'module 1-3',
    '  function_definition 1-2',
    '    name: identifier 1-1 "f"',
    '    parameters: parameters 1-1 "()"',
    '    body: block 2-2',
    '      pass_statement 2-2 "pass"',
  ])
  expect(linesOf('x = 1', true)).toContain('      "="')
  const json = await loadLanguage('json')
  expect(json.read('[1', (tree) => treeLines(tree, { tokens: false }))).toContain('    MISSING "]"')
})
