import { describe, expect, it } from 'vitest'
import { ChatRequest } from './chat-request.ts'
import { nextMove } from './next-move.ts'

const submit = { name: 'submit_result', parameters: {} }
type Answer = (args: Record<string, unknown>) => unknown

/** Plays a conversation to its submission; the tools answer as `answers` says. Returns the calls made, in order. */
function play(answers: Record<string, Answer>, userText = 'Improve src/shop.py.'): { name: string; args: object }[] {
  const tools = [...Object.keys(answers), 'submit_result'].map((name) => ({ type: 'function', function: { name } }))
  const messages: object[] = [{ role: 'user', content: userText }]
  const calls: { name: string; args: object }[] = []
  for (let turn = 1; turn < 20; turn++) {
    const move = nextMove(ChatRequest.parse({ model: 'rehearsal', messages, tools }))
    if (move.kind !== 'call') throw new Error(`said: ${move.text}`)
    calls.push({ name: move.name, args: move.args })
    if (move.name === 'submit_result') return calls
    const id = `call_${turn}`
    const called = { id, type: 'function', function: { name: move.name, arguments: JSON.stringify(move.args) } }
    messages.push({ role: 'assistant', content: null, tool_calls: [called] })
    messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(answers[move.name]?.(move.args)) })
  }
  throw new Error('no submission in 20 turns')
}

const names = (calls: { name: string }[]) => calls.map((call) => call.name)
const diagnostic = (code: string, fixable: boolean) => ({ code, message: code, line: 1, column: 1, fixable })

describe('the lint rule', () => {
  it('applies each fixable rule once and reports the file', () => {
    let left = [diagnostic('F401', true), diagnostic('F401', true), diagnostic('E711', true), diagnostic('F821', false)]
    const calls = play({
      run_linter: () => ({ result: { diagnostics: left, fixable: 3, total: 4 }, summary: '4 diagnostics' }),
      apply_lint_fix: ({ code }) => {
        const applied = left.filter((entry) => entry.code === code).length
        left = left.filter((entry) => entry.code !== code)
        return { result: { applied, diagnostics: left }, summary: 'applied' }
      },
    })
    expect(calls.slice(0, 3)).toEqual([
      { name: 'run_linter', args: {} },
      { name: 'apply_lint_fix', args: { code: 'F401' } },
      { name: 'apply_lint_fix', args: { code: 'E711' } },
    ])
    expect(calls[3]?.args).toEqual({
      status: 'success',
      summary: 'Applied 3 lint fixes; 1 diagnostic is left.',
      changed_files: ['src/shop.py'],
      details: {},
    })
    expect(calls).toHaveLength(4)
  })

  it('skips when nothing is fixable', () => {
    const calls = play({
      run_linter: () => ({ result: { diagnostics: [diagnostic('F821', false)] } }),
      apply_lint_fix: () => ({}),
    })
    expect(names(calls)).toEqual(['run_linter', 'submit_result'])
    expect(calls[1]?.args).toMatchObject({ status: 'skipped', changed_files: [] })
  })

  it('does not try a fix again that was refused, and submits failed', () => {
    const calls = play({
      run_linter: () => ({ result: { diagnostics: [diagnostic('F401', true)] } }),
      apply_lint_fix: () => ({ outcome: 'error', error: 'no such fix' }),
    })
    expect(names(calls)).toEqual(['run_linter', 'apply_lint_fix', 'submit_result'])
    expect(calls[2]?.args).toMatchObject({ status: 'failed', changed_files: [] })
  })

  it('submits failed when the linter does not run', () => {
    const calls = play({ run_linter: () => ({ outcome: 'error', error: 'crashed' }), apply_lint_fix: () => ({}) })
    expect(calls.at(-1)?.args).toMatchObject({ status: 'failed' })
  })
})

describe('the docstring rule', () => {
  const read = { name: 'get_total', kind: 'function', has_docstring: false, path: 'src/shop.py', returns_value: true }

  it('writes a docstring from the signature and submits the file', () => {
    const calls = play({
      read_docstring: () => ({ result: read, summary: 'read' }),
      write_docstring: () => ({ result: { written: true }, summary: 'written' }),
    })
    expect(names(calls)).toEqual(['read_docstring', 'write_docstring', 'submit_result'])
    expect(calls[1]?.args).toEqual({ docstring: 'Get the total.\n\nReturns:\n    The result.' })
    expect(calls[2]?.args).toMatchObject({ status: 'success', changed_files: ['src/shop.py'] })
  })

  it('tries one line when the first docstring is refused, then gives up', () => {
    const calls = play({ read_docstring: () => ({ result: read }), write_docstring: () => ({ error: 'refused' }) })
    expect(names(calls)).toEqual(['read_docstring', 'write_docstring', 'write_docstring', 'submit_result'])
    expect(calls[2]?.args).toEqual({ docstring: 'Get the total.' })
    expect(calls[3]?.args).toMatchObject({ status: 'failed', changed_files: [] })
  })

  it('skips a node that has one', () => {
    const calls = play({
      read_docstring: () => ({ result: { ...read, has_docstring: true, docstring: 'Here.' } }),
      write_docstring: () => ({}),
    })
    expect(names(calls)).toEqual(['read_docstring', 'submit_result'])
    expect(calls[1]?.args).toMatchObject({ status: 'skipped' })
  })
})

describe('other tool sets', () => {
  it('writes back the file it has read', () => {
    const calls = play({ read_file: () => ({ result: 'x = 1\n\n' }), write_file: () => ({ result: { bytes: 6 } }) })
    expect(calls.slice(0, 2)).toEqual([
      { name: 'read_file', args: { path: 'src/shop.py' } },
      { name: 'write_file', args: { path: 'src/shop.py', content: 'x = 1\n' } },
    ])
    expect(calls[2]?.args).toMatchObject({ status: 'success' })
  })

  it('calls each tool once when no rule knows them, and submits the result', () => {
    const calls = play({ fly_to_moon: () => ({ result: 1 }), land: () => ({ outcome: 'error', error: 'no' }) })
    expect(names(calls)).toEqual(['fly_to_moon', 'land', 'submit_result'])
    expect(calls[2]?.args).toMatchObject({ status: 'success', summary: 'Called each tool once: fly_to_moon.' })
    expect(play({ land: () => ({ outcome: 'error', error: 'no' }) })[1]?.args).toMatchObject({ status: 'failed' })
    expect(play({})[0]?.args).toMatchObject({ status: 'skipped' })
  })

  it('calls a tool it does not know with the plainest arguments its schema takes', () => {
    const properties = {
      path: { type: 'string' },
      mode: { enum: ['fast', 'slow'] },
      count: { type: 'integer', minimum: 3 },
      tags: { type: 'array' },
      note: { type: 'string' },
    }
    const required = ['path', 'mode', 'count', 'tags']
    const request = ChatRequest.parse({
      model: 'rehearsal',
      messages: [{ role: 'user', content: 'The node is f in src/shop.py' }],
      tools: [{ function: { name: 'odd', parameters: { type: 'object', properties, required } } }],
    })
    expect(nextMove(request)).toMatchObject({ args: { path: 'src/shop.py', mode: 'fast', count: 3, tags: [] } })
  })

  it('makes the call that is named, as its rule would', () => {
    const shelf = { name: 'shelf', qualified_name: 'shelf', kind: 'function', has_docstring: false, parameters: [] }
    const request = (tools: string[]) =>
      ChatRequest.parse({
        model: 'rehearsal',
        messages: [
          { role: 'user', content: 'go' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', function: { name: 'read_docstring', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: JSON.stringify({ result: shelf }) },
        ],
        tools: tools.map((name) => ({ function: { name, parameters: {} } })),
        tool_choice: { type: 'function', function: { name: 'write_docstring' } },
      })
    const written = { kind: 'call', name: 'write_docstring', args: { docstring: expect.stringContaining('shelf') } }
    expect(nextMove(request(['read_docstring', 'write_docstring', 'submit_result']))).toEqual(written)
    expect(nextMove(request(['write_docstring']))).toEqual(written)
  })

  it('answers a schema alone with an object of its form', () => {
    const schema = { type: 'object', properties: { note: { type: 'string' }, more: {} }, required: ['note'] }
    const request = ChatRequest.parse({
      model: 'rehearsal',
      messages: [{ role: 'user', content: 'go' }],
      response_format: { type: 'json_schema', json_schema: { name: 'write', schema } },
    })
    expect(nextMove(request)).toEqual({ kind: 'say', text: '{"note":"rehearsal"}' })
  })

  it('submits when submit_result is forced, with only what its schema declares', () => {
    const request = ChatRequest.parse({
      model: 'rehearsal',
      messages: [{ role: 'user', content: 'go' }],
      tools: ['run_linter', 'apply_lint_fix', 'submit_result'].map((name) => ({
        type: 'function',
        function: { ...submit, name, parameters: { properties: { status: {}, summary: {} } } },
      })),
      tool_choice: { type: 'function', function: { name: 'submit_result' } },
    })
    expect(nextMove(request)).toEqual({
      kind: 'call',
      name: 'submit_result',
      args: { status: 'failed', summary: 'The linter did not run.' },
    })
  })
})
