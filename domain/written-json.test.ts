import { describe, expect, it } from 'vitest'
import { readWrittenJson } from './written-json.ts'

describe('JSON as a model writes it', () => {
  it.each<[string, string, unknown]>([
    ['JSON itself', '{"a": [1, -2.5e3, true, null, "\\u00e9"]}', { a: [1, -2500, true, null, 'é'] }],
    ['line breaks inside of a string', '{"code": "def f():\n\treturn 1\r\n"}', { code: 'def f():\n\treturn 1\r\n' }],
    ['a line break behind a written backslash', '{"a": "x\\\\\ny"}', { a: 'x\\\ny' }],
    ['a comma behind the last part', '{"a": [1, 2, ], "b": {"c": 1,\n},}', { a: [1, 2], b: { c: 1 } }],
    ['a fence around it', '```json\n{"a": 1}\n```\n', { a: 1 }],
    ['a fence, with one in a string', '```\n{"a": "```\nb\n```"}\n```', { a: '```\nb\n```' }],
    ['a member that is called as objects are made', '{"__proto__": 1,}', JSON.parse('{"__proto__": 1}')],
  ])('may have %s', (_what, text, value) => {
    expect(readWrittenJson(text)).toEqual({ value })
  })

  it.each([
    ['{"a": "b\nc', 'line 1, column 7, at "\\"b\\nc": this string does not end'],
    ['{"a": 1,\n "b" 2}', 'line 2, column 6, at "2}": a colon is missing'],
    ['{"a": "say "hi""}', 'line 1, column 13, at "hi\\"\\"}": a comma or } is missing'],
    [
      '{"a": "\\d+"}',
      'line 1, column 8, at "\\\\d+\\"}": this is no escape of JSON: a backslash itself is written as two',
    ],
    ["{'a': 1}", 'line 1, column 2, at "\'a\': 1}": the name of a member in double quotes is missing'],
    ['{"a": True}', 'line 1, column 7, at "True}": this is no value of JSON'],
    ['{"a": 01}', 'line 1, column 7, at "01}": this is no value of JSON'],
    ['[1,,2]', 'line 1, column 4, at ",2]": this is no value of JSON'],
    ['{"a": [1', 'line 1, column 9, at the end: a comma or ] is missing'],
    ['{"a": 1} and more', 'line 1, column 10, at "and more": there is text behind the JSON'],
    ['```json\n{"a": 1}', 'line 2, column 9, at the end: the fence'],
    ['', 'line 1, column 1, at the end: a value is missing'],
    ['['.repeat(100_000), 'it is nested deeper than 100 levels'],
  ])('is refused with the place and the reason: %.40s', (text, fault) => {
    expect(readWrittenJson(text)).toEqual({ fault: expect.stringContaining(fault) })
  })
})
