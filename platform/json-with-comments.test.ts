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
  expect(spacedLastCommas('{"a": [1, 2,], "b,": "c,]" , }')).toBe('{"a": [1, 2 ], "b,": "c,]"   }')
})

it.each(['{,}x', '{"a": 1,,}', '[1 2]', '{"a": "b', '/* {"a": 1}', '{"a": /* 1}'])('%s is no JSON', (text) => {
  expect(() => parseJsonWithComments(text)).toThrow(SyntaxError)
})
