import { describe, expect, it } from 'vitest'
import { ChatRequest } from '#rehearsal/chat-request.ts'
import { nextMove } from '#rehearsal/next-move.ts'

const tools = ['read_code', 'search_code', 'report_finding', 'submit_result'].map((name) => ({ function: { name } }))

/** Plays a review of `code`, each line with its number, to its submission. */
function review(code: readonly string[] | undefined): { name: string; args: object }[] {
  const numbered = code?.map((line, at) => `${at + 7}: ${line}`).join('\n')
  const read = code === undefined ? { error: 'gone' } : { result: { path: 'a.py', node: 'f', code: numbered } }
  const messages: object[] = [{ role: 'user', content: 'The node is f in a.py' }]
  const calls: { name: string; args: object }[] = []
  for (;;) {
    const move = nextMove(ChatRequest.parse({ model: 'rehearsal', messages, tools }))
    if (move.kind !== 'call') throw new Error(`said: ${move.text}`)
    calls.push({ name: move.name, args: move.args })
    if (move.name === 'submit_result') return calls
    const id = `c${calls.length}`
    const called = { id, function: { name: move.name, arguments: JSON.stringify(move.args) } }
    const answer = move.name === 'read_code' ? read : { result: [] }
    messages.push({ role: 'assistant', tool_calls: [called] })
    messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(answer) })
  }
}

describe('the review rule', () => {
  it.each([
    ['bare-except', 'except :'],
    ['mutable-default', 'def f(a, b: list[str] = []):'],
    ['compared-with-none', 'if a != None and b:'],
    ['empty-catch', 'try { go() } catch (error) { }'],
    ['work-left', 'x = 1  # FIXME'],
  ])('reports %s with its line, and submits without changed files', (rule, line) => {
    const calls = review(['x = 1', line])
    expect(calls.map(({ name }) => name)).toEqual(['read_code', 'search_code', 'report_finding', 'submit_result'])
    expect(calls[1]?.args).toEqual({ text: 'f' })
    expect(calls[2]?.args).toMatchObject({ rule, line: 8, confidence: 0.6 })
    expect(calls[3]?.args).toMatchObject({ status: 'success', summary: 'Reported 1 finding.', changed_files: [] })
  })

  it('reports nothing where there is nothing, and fails where the code could not be read', () => {
    const sound = review(['def f(a=None, b=()):', '    assert a is None, "TODO"', '    except ValueError:'])
    expect(sound.map(({ name }) => name)).toEqual(['read_code', 'search_code', 'submit_result'])
    expect(sound[2]?.args).toMatchObject({ status: 'success', summary: 'Reported nothing.' })
    expect(review(undefined).at(-1)?.args).toMatchObject({ status: 'failed' })
  })
})
