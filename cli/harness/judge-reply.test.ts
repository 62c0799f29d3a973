import { describe, expect, it } from 'vitest'
import { submitTool } from '#bundles/tool-definition.ts'
import type { RequestedCall } from '#domain/turn.ts'
import { isMatch, judgeReply } from './run-probe.ts'
import { allShapes } from './shapes.ts'

const offered = [...allShapes.flatMap(({ tools }) => tools), submitTool]
const call = (name: string, args: unknown): RequestedCall => {
  return { id: 'c1', name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }
}
const judged = (calls: RequestedCall[], tool: string, args: Record<string, unknown>) => {
  const { called, rightTool, rightArguments } = judgeReply(calls, { tool, arguments: args }, offered)
  return [called && 'called', rightTool && 'tool', rightArguments && 'arguments'].filter(Boolean).join(' ')
}

const path = 'src/a.py'
const server = { name: 'kilo-1', address: { host: 'kilo-1.example.org', port: 8080 } }
const skipped = { status: 'skipped' }

describe('judgeReply', () => {
  const right = 'called tool arguments'
  it.each<[string, RequestedCall[], string, Record<string, unknown>, string]>([
    ['no call', [], 'open_file', { path }, ''],
    ['a tool that is not there', [call('no_such_tool', { path })], 'open_file', { path }, 'called'],
    ['a call of everything and nothing', [call('open_file', {})], 'open_file', { path }, 'called tool'],
    ['blanks around a text', [call('open_file', { path: ` ${path}\n` })], 'open_file', { path }, right],
    ['a text in other letters', [call('open_file', { path: 'SRC/A.py' })], 'open_file', { path }, 'called tool'],
    ['a key that is not declared', [call('open_file', { path, x: 1 })], 'open_file', { path }, right],
    ['arguments that are cut', [call('open_file', '{"path":"src/a.p')], 'open_file', { path }, 'called tool'],
    ['a number as text', [call('set_timeout', { seconds: '5' })], 'set_timeout', { seconds: 5 }, 'called tool'],
    ['5.0 for 5', [call('set_timeout', '{"seconds":5.0}')], 'set_timeout', { seconds: 5 }, right],
    ['"true" for true', [call('set_verbose', { enabled: 'true' })], 'set_verbose', { enabled: true }, 'called tool'],
    ['a list in order', [call('add_labels', { labels: ['a', 'b '] })], 'add_labels', { labels: ['a', 'b'] }, right],
    [
      'another order',
      [call('add_labels', { labels: ['b', 'a'] })],
      'add_labels',
      { labels: ['a', 'b'] },
      'called tool',
    ],
    ['too long a list', [call('add_labels', { labels: ['a', 'b'] })], 'add_labels', { labels: ['a'] }, 'called tool'],
    ['an object', [call('register_server', { server })], 'register_server', { server }, right],
    ['a flattened object', [call('register_server', server)], 'register_server', { server }, 'called tool'],
    ['a skip', [call('submit_result', { ...skipped, summary: 'n/a' })], 'submit_result', skipped, right],
    ['a skip without a summary', [call('submit_result', skipped)], 'submit_result', skipped, 'called tool'],
    ['another tool for a skip', [call('restart_server', { name: 'x' })], 'submit_result', skipped, 'called'],
    [
      'several by the first',
      [call('count_lines', { path }), call('open_file', { path })],
      'open_file',
      { path },
      'called',
    ],
  ])('judges %s', (_case, calls, tool, args, verdict) => {
    expect(judged(calls, tool, args)).toBe(verdict)
  })

  it('tells a call that was read from the content', () => {
    const written = { ...call('open_file', { path }), parsedFromContent: true }
    expect(judgeReply([written], { tool: 'open_file', arguments: { path } }, offered)).toEqual({
      called: true,
      parsedFromContent: true,
      rightTool: true,
      rightArguments: true,
    })
  })

  it('takes null and a missing key for no value', () => {
    expect(isMatch({ a: 1 }, { a: null })).toBe(false)
    expect(isMatch({ a: 1 }, {})).toBe(false)
    expect(isMatch({ a: [1] }, { a: { 0: 1, length: 1 } })).toBe(false)
  })
})
