import { describe, expect, it } from 'vitest'
import { parseContentCall } from './parse-content-call.ts'

describe('parseContentCall', () => {
  it.each([
    ['{"name":"a","arguments":{"x":1}}', '{"x":1}'],
    ['\n {"name":"a","parameters":{}} \n', '{}'],
    ['{"name":"a","arguments":"{\\"x\\":1}"}', '{"x":1}'],
  ])('reads %s', (content, args) => {
    expect(parseContentCall(content)).toMatchObject({ name: 'a', arguments: args, parsedFromContent: true })
  })

  it.each([
    '',
    'hello',
    '{"name":"a"}',
    '{"name":"","arguments":{}}',
    '{"name":"a","arguments":{}',
    '[1]',
    '{"a":1} {}',
  ])('reads no call from %s', (content) => {
    expect(parseContentCall(content)).toBeUndefined()
  })
})
