import { describe, expect, it } from 'vitest'
import { proseFaults } from './prose-faults.ts'

const files: Record<string, string> = {
  'docs/settings.md': '# Settings\n\n## Two `parts`\n\n## Two parts\n\n<a id="old"></a>\n',
  'docs/a/twice.md': '',
  'docs/b/twice.md': '',
  'src/app.py': '',
}
const path = 'docs/guide/use.md'

function judge(source: string, asks: string[] = []) {
  const tree = {
    read: async (asked: string) => {
      asks.push(asked)
      return asked === path ? source : files[asked]
    },
    filesNamed: (name: string) => Object.keys(files).filter((one) => one.endsWith(`/${name}`)),
  }
  return proseFaults(source, path, tree)
}

const faultsIn = async (source: string) => (await judge(source)).faults

const mended = async (source: string) => (await faultsIn(source)).map((fault) => fault.mended)

describe('a link', () => {
  it.each([
    '../settings.md',
    '../settings.md#two-parts',
    '../settings.md#two-parts-1',
    '../settings.md#old',
    '#here',
    '../../src/app.py#L3',
    'https://example.com/none.md',
    '/none.md',
    'mailto:a@b.c',
    'none.html',
    'picture.png',
    'none',
    '{{ page }}.md',
    '../../../outside.md',
  ])('that leads somewhere, or cannot be judged, is left alone: %s', async (target) => {
    expect(await faultsIn(`# Here\n\n[it](${target})\n`)).toEqual([])
  })

  it.each([
    ['settings.md', 'there is no file docs/guide/settings.md', '../settings.md'],
    ['settings.md#old', 'there is no file docs/guide/settings.md', '../settings.md#old'],
    ['../settings.md#Two-Parts', 'docs/settings.md has no heading #Two-Parts', '../settings.md#two-parts'],
    ['#heree', 'docs/guide/use.md has no heading #heree', '#here'],
    ['twice.md', 'there is no file docs/guide/twice.md', undefined],
    ['gone.md', 'there is no file docs/guide/gone.md', undefined],
    ['../settings.md#three', 'docs/settings.md has no heading #three', undefined],
  ])('that leads nowhere is found, and mended where one target is meant: %s', async (target, why, meant) => {
    const [fault] = await faultsIn(`# Here\n\nfirst line and\n[it](${target} "title") and more\n`)
    expect(fault).toEqual({
      kind: 'broken_link',
      line: 4,
      message: `the link ${target} is broken: ${why}`,
      ...(meant !== undefined && { mended: `[it](${meant} "title") and more` }),
    })
  })
})

describe('other faults', () => {
  it('are found in lines of prose alone', async () => {
    const source =
      '---\nthe the: 1\n---\n# A\n\n#### B\n\nIs of the\nthe and `the the` the\n\n```\nthe the\n```\n\n    the the\n\n<p>the the</p>\n\n| the the |\n|---|\n| 1 |\n'
    expect(await faultsIn(source)).toMatchObject([{ kind: 'skipped_level', line: 6, mended: '## B' }])
    expect(await faultsIn('# A\n\nAll of The the parts\nare in  in here.\n')).toEqual([
      { kind: 'doubled_word', line: 3, message: '"The" is there twice', mended: 'All of The parts' },
    ])
  })

  it.each([
    ['{"a": [1]}', '```json'],
    ['$ ls', '```console'],
    ['#!/bin/sh\nls', '```sh'],
    ['#!/usr/bin/env python3\n1', '```python'],
    ['--- a/b\n+++ b/b\n', '```diff'],
    ['<?xml version="1.0"?>', '```xml'],
  ])('are code blocks whose language is evident: %j', async (code, fence) => {
    expect(await mended(`# A\n\n\`\`\`\n${code}\n\`\`\`\n`)).toEqual([fence])
    expect(await mended(`# A\n\n\`\`\`text\n${code}\n\`\`\`\n`)).toEqual([])
  })

  it.each(['ls -l', '{a: 1}', '[1', '# comment', 'import a'])(
    'are not code blocks that may be anything: %s',
    async (code) => {
      expect(await mended(`# A\n\n\`\`\`\n${code}\n\`\`\`\n`)).toEqual([])
    },
  )
})

describe('a very large article', () => {
  const numbers = (length: number) => Array.from({ length }, (_, at) => at)
  const lines = (length: number, line: (at: number) => string) => numbers(length).map(line).join('\n\n')

  it('is parsed once for all links to it', { timeout: 5_000 }, async () => {
    const asks: string[] = []
    const headings = lines(4_000, (at) => `## Part ${at}`)
    const { faults } = await judge(`# A\n\n${headings}\n\n${lines(1_000, (at) => `[a](#patr-${at}x)`)}\n`, asks)
    expect(faults).toHaveLength(1_000)
    expect(asks).toEqual([path, path])
  })

  it('is said to have links that are not judged', async () => {
    const source = `${lines(1_500, (at) => `[web](https://example.com/${at})`)}\n\n${lines(1_001, (at) => `[a](#s${at})`)}\n`
    const { faults, unjudged } = await judge(source)
    expect(faults).toHaveLength(1_000)
    expect(unjudged).toEqual([5_001])
  })

  it('has one fault for one broken link many times on a line', { timeout: 5_000 }, async () => {
    const { faults } = await judge(`# Here\n\n${'[a](#heree) '.repeat(8_000)}\n`)
    expect(faults).toMatchObject([{ line: 3, mended: '[a](#here) '.repeat(8_000) }])
  })

  it.each(['[', '<', '](', '[a](', '`'])('may be of %s alone', { timeout: 10_000 }, async (part) => {
    const long = part.repeat(95_000 / part.length)
    const { faults } = await judge(`# The the ${long}\n\n[it](#none)\n`)
    expect(faults).toMatchObject([{ kind: 'doubled_word' }, { kind: 'broken_link' }])
  })
})
