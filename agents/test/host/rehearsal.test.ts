import { describe, expect, it } from 'vitest'
import { ChatRequest } from '#rehearsal/chat-request.ts'
import { nextMove } from '#rehearsal/next-move.ts'

const facts = {
  name: 'price',
  qualified_name: 'price',
  language: 'python',
  code: 'def price(n): ...',
  runner: 'unittest',
  style: 'unittest',
  imports: 'import unittest\n\nfrom shop import price\n',
  import_here: 'from shop import price',
}

/** Plays the writing of tests, with these answers of the tools, to its submission. */
function play(answers: Readonly<Record<string, object>>, names = ['read_target', 'try_code', 'write_tests']) {
  const tools = [...names, 'submit_result'].map((name) => ({ function: { name } }))
  const messages: object[] = [{ role: 'user', content: 'The node is price in shop.py' }]
  const calls: { name: string; args: Record<string, unknown> }[] = []
  for (;;) {
    const move = nextMove(ChatRequest.parse({ model: 'rehearsal', messages, tools }))
    if (move.kind !== 'call') throw new Error(`said: ${move.text}`)
    calls.push(move)
    if (move.name === 'submit_result') return calls
    const id = `c${calls.length}`
    const called = { id, function: { name: move.name, arguments: JSON.stringify(move.args) } }
    messages.push({ role: 'assistant', tool_calls: [called] })
    messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(answers[move.name]) })
  }
}

const seen = [
  { call: 'price(3)', result: "Decimal('9')", imports: ['from decimal import Decimal', 'from shop import price'] },
  { call: "price('abc')", raises: 'ValueError', imports: ['from shop import price'] },
  { make: 'Cart()', call: 'subject.add(1)', state: { total: '3' }, imports: ['from shop import Cart'] },
]
const output = `noise\n${seen.map((one) => JSON.stringify(one)).join('\n')}\n`
const written = { result: { path: 'tests/test_shop.py', kept: 3 } }

describe('the rule that writes tests', () => {
  it('states what the code answered, and submits the file', () => {
    const calls = play({ read_target: { result: facts }, try_code: { result: { output } }, write_tests: written })
    expect(calls.map(({ name }) => name)).toEqual(['read_target', 'try_code', 'write_tests', 'submit_result'])
    expect(calls[1]?.args['code']).toContain('from shop import price')
    expect(calls[2]?.args['text']).toBe(`import unittest

from decimal import Decimal

from shop import Cart, price


class PriceTest(unittest.TestCase):
    def test_price_3(self):
        self.assertEqual(price(3), Decimal('9'))

    def test_price_abc_is_refused(self):
        with self.assertRaises(ValueError):
            price('abc')

    def test_add_1(self):
        subject = Cart()
        subject.add(1)
        self.assertEqual(subject.total, 3)
`)
    expect(calls[3]?.args).toMatchObject({ status: 'success', changed_files: ['tests/test_shop.py'] })
  })

  it('writes for pytest, node:test and vitest as they are written', () => {
    const text = (of: Partial<typeof facts>, tried = output) => {
      const read = { result: { ...facts, ...of } }
      return play({ read_target: read, try_code: { result: { output: tried } }, write_tests: written })[2]?.args['text']
    }
    const pytest = text({ runner: 'pytest', style: 'functions', imports: 'from shop import price\n' })
    expect(pytest).toContain("def test_price_3():\n    assert price(3) == Decimal('9')\n")
    expect(pytest).toContain('import pytest\n\nfrom decimal import Decimal')
    const lines = [
      { call: 'f(1)', result: "{ a: 'b' }" },
      { call: 'f(0)', raises: 'RangeError', async: true },
    ]
    const tried = lines.map((one) => JSON.stringify(one)).join('\n')
    const node = { language: 'javascript', imports: "import { f } from './a.js'\n" }
    expect(text({ ...node, runner: 'node:test' }, tried)).toBe(
      `import { f } from './a.js'\n\ntest("f(1) is { a: 'b' }", () => {\n  assert.deepEqual(f(1), { a: 'b' })\n})\n\ntest('f(0) is refused', async () => {\n  await assert.rejects(() => f(0), { name: 'RangeError' })\n})\n`,
    )
    expect(text({ ...node, runner: 'vitest' }, tried)).toContain("expect(f(1)).toEqual({ a: 'b' })")
  })

  it('writes a test of JavaScript within the length of a line, and leaves out one that cannot be', () => {
    const given = (length: number) => `'${'a'.repeat(length)}'`
    const lines = [50, 70, 100].map((length) => ({ call: `f(${given(length)})`, result: given(length) }))
    const tried = { result: { output: lines.map((one) => JSON.stringify(one)).join('\n') } }
    const of = {
      ...facts,
      language: 'javascript',
      imports: "import { f } from './a.js'\n",
      line_length: 80,
    }
    const text = String(play({ read_target: { result: of }, try_code: tried, write_tests: written })[2]?.args['text'])
    expect(text.split('\n').filter(({ length }) => length > 80)).toEqual([])
    expect(text).toContain(`  assert.equal(\n    f(${given(50)}),\n    ${given(50)},\n  )\n`)
    expect(text).toContain(given(70))
    expect(text).not.toContain(given(100))
  })

  it('leaves alone what cannot be read, says nothing, or has no test that holds', () => {
    const unread = play({ read_target: { outcome: 'error', error: 'refused' } })
    expect(unread.map(({ name }) => name)).toEqual(['read_target', 'submit_result'])
    const silent = play({ read_target: { result: facts }, try_code: { result: { output: 'Traceback\n' } } })
    expect(silent.at(-1)?.args).toMatchObject({ status: 'skipped' })
    const refused = { outcome: 'error', error: 'the tests were refused' }
    const held = play({ read_target: { result: facts }, try_code: { result: { output } }, write_tests: refused })
    expect(held.at(-1)?.args).toMatchObject({ status: 'skipped', changed_files: [] })
  })

  it('writes what it can where it may not try', () => {
    const calls = play({ read_target: { result: facts }, write_tests: written }, ['write_tests'])
    expect(calls.at(-2)?.name).toBe('write_tests')
  })
})
