import { expect, it } from 'vitest'
import { parseJsonWithComments, spacedLastCommas } from './json-with-comments.ts'

const settings = `\uFEFF{
  // "a": 1,
  "paths": { "@/*": ["src/*",], /* , } */ "a//b": "c,]" , },
  "open": "/* \\" //", // , ]
  "last": [1, 2, /* why */ ],
}
`

it('settings with comments and last commas are read, and strings that look like them stay', () => {
  expect(parseJsonWithComments(settings)).toEqual({
    paths: { '@/*': ['src/*'], 'a//b': 'c,]' },
    open: '/* " //',
    last: [1, 2],
  })
})

it('only the commas that JSON does not have become spaces', () => {
  const spaced = spacedLastCommas(settings)
  const changed = settings.split('').flatMap((character, at) => (character === spaced[at] ? [] : [`${character}${at}`]))
  const commas = [...settings.matchAll(/,(?= ?(?:\]|\},|\/\* why)|\n\})/g)].map(({ index }) => `,${index}`)
  expect(spaced).toHaveLength(settings.length)
  expect(changed.filter((one) => !commas.includes(one))).toEqual([])
  expect(changed).toHaveLength(4)
})

it.each(['{,}x', '{"a": 1,,}', '[1 2]', '{"a": "b', '/* {"a": 1}', '{"a": /* 1}'])('%s is no JSON', (text) => {
  expect(() => parseJsonWithComments(text)).toThrow(SyntaxError)
})

it('a long text that opens comments or strings without an end is read once, not once for each', () => {
  for (const part of ['/*', '"\\"', ',  ', '// ', '/*"'])
    expect(() => parseJsonWithComments(part.repeat(60_000))).toThrow(SyntaxError)
})
