import { describe, expect, it } from 'vitest'
import { commandsOf } from './answer-comment.ts'

const found = (text: string) => commandsOf(text).map(({ verb, argument }) => [verb, argument].join(' ').trim())

describe('the commands of a comment', () => {
  it.each([
    ['/remora retry', ['retry']],
    [
      'Thanks!\r\n\r\n/remora reject  a b.py \r\n/remora\texplain x\r/remora retry',
      ['reject a b.py', 'explain x', 'retry'],
    ],
    ['/remora', ['help']],
    ['/remora ', ['help']],
    ['/remora foo', ['foo']],
    ['/remoras retry', []],
    ['/remora-retry', []],
    ['/Remora retry', []],
    [' /remora retry', []],
    ['    /remora retry', []],
    ['- /remora retry', []],
    ['I say /remora retry', []],
    ['`/remora retry`', []],
    ['> /remora retry\n>/remora retry\n> > /remora retry', []],
  ])('in %j are %j', (text, commands) => {
    expect(found(text)).toEqual(commands)
  })

  it.each([
    ['```\n/remora retry\n```\n/remora help', ['help']],
    ['~~~ sh\n/remora retry\n```\n/remora retry\n~~~~\n/remora help', ['help']],
    ['````\n```\n/remora retry\n```\n/remora retry\n````', []],
    ['  ```js\n/remora retry\n``` js\n/remora retry\n   ```  \n/remora help', ['help']],
    ['```\n/remora retry', []],
    // This is code in a line, which begins no block.
    ['```a``` is\n/remora retry', ['retry']],
    ['`a\n/remora retry\nb`', []],
    ['- a\n\n      /remora retry', []],
  ])('are none in blocks of code: %j has %j', (text, commands) => {
    expect(found(text)).toEqual(commands)
  })

  it.each([
    ['<!--\n/remora retry\n-->\n\n/remora help', ['help']],
    ['Hello <!--\n/remora retry\n--> there', []],
    ['<!-- never closed\n\n/remora retry', []],
    ['<pre>\n\n/remora retry\n</pre>\n/remora help', ['help']],
    ['<details><summary>Log</summary>\n\n/remora retry\n\n</details>\n\n/remora help', ['help']],
    ['<!-- <details> -->\n\n/remora retry', ['retry']],
    ['Look: <code>\n/remora retry\n</code>', []],
    ['> said\n/remora retry\n\n/remora help', ['help']],
    ['1. first\n/remora retry', []],
    ['a | b\n-|-\n/remora retry | c', []],
    ['/remora reject docs/** `a` <b>\n---', ['reject docs/** `a` <b>']],
    ['Vec<T> is fine\n\n/remora retry', ['retry']],
  ])('are none where they are hidden or quoted: %j has %j', (text, commands) => {
    expect(found(text)).toEqual(commands)
  })
})
