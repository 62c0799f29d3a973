import { describe, expect, it } from 'vitest'
import { ChatRequest } from '#rehearsal/chat-request.ts'
import { nextMove } from '#rehearsal/next-move.ts'

const schemas = {
  report_node: {
    properties: { name: { type: 'string' }, kind: { enum: ['class', 'function'] }, lines: { type: 'integer' } },
  },
  count_lines: { properties: { path: { type: 'string' } } },
  find_symbol: { properties: { symbol: { type: 'string' } } },
  restart_server: { properties: { name: { type: 'string' } } },
  run_linter: { properties: {} },
}
type ToolName = keyof typeof schemas

/** The next move after as many calls as there are `answers`. */
function move(tools: ToolName[], text: string, answers: object[] = []) {
  const offered = [...tools.map((name) => ({ name, parameters: schemas[name] })), { name: 'submit_result' }]
  const turns = answers.flatMap((answer, at) => {
    const called = { id: `c${at}`, function: { name: tools[0] ?? '', arguments: '{}' } }
    return [
      { role: 'assistant', tool_calls: [called] },
      { role: 'tool', tool_call_id: `c${at}`, content: JSON.stringify(answer) },
    ]
  })
  const messages = [{ role: 'user', content: text }, ...turns]
  const request = { model: 'rehearsal', messages, tools: offered.map((tool) => ({ function: tool })) }
  const next = nextMove(ChatRequest.parse(request))
  if (next.kind !== 'call') throw new Error(`said: ${next.text}`)
  return next
}

describe('the harness rule', () => {
  it('submits when the tool has answered, and gives up after two refusals', () => {
    const [refused, done] = [
      { outcome: 'error', error: 'no' },
      { outcome: 'success', result: 1 },
    ]
    const next = (answers: object[]) => move(['restart_server'], 'Restart the server "a".', answers)
    expect(next([done])).toMatchObject({ name: 'submit_result', args: { status: 'success' } })
    expect(next([refused])).toMatchObject({ name: 'restart_server' })
    expect(next([refused, refused])).toMatchObject({ name: 'submit_result', args: { status: 'failed' } })
  })

  it('counts the lines of the code it is shown', () => {
    const text = 'Report this node with its name, its kind and its number of lines: the function "a" in b7.py.'
    const code = 'def a():\n    x = "class"\n    return 3'
    expect(move(['report_node'], `${text}\n\n\`\`\`python\n${code}\n\`\`\`\n`).args).toEqual({
      name: 'a',
      kind: 'function',
      lines: 3,
    })
  })

  it('leaves bundles with other tools as well to the other rules', () => {
    expect(move(['count_lines', 'run_linter'], 'Go.')).toMatchObject({ name: 'count_lines', args: {} })
  })
})
