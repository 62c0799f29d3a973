/**
 * The three turns of the benchmark's agent, for node number n. There is no model: the turn is how many tool results the
 * request holds, and n is read from the path in it.
 */
const placeholder = '4242424242'
const path = `src/app_${placeholder}.py`
const content = `def greet_${placeholder}(name: str) -> str:\n    """Return a greeting for name."""\n    return f"hello {name}"\n`

const calls = [
  { name: 'read_file', args: { path } },
  { name: 'write_file', args: { path, content } },
  { name: 'submit_result', args: { summary: 'Added a docstring to greet.', status: 'success' } },
]

export const turnsPerAgent = calls.length

/** Each reply, split where the node's number goes; the last one is the plain text for a turn that must not happen. */
const replies = [...calls.map(replyTo), lastWords()].map((reply) => JSON.stringify(reply).split(placeholder))

function replyTo({ name, args }: (typeof calls)[number], turn: number): object {
  const call = { id: `call_${turn + 1}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }
  return completion(turn, { role: 'assistant', content: null, tool_calls: [call] }, 'tool_calls')
}

function lastWords(): object {
  return completion(calls.length, { role: 'assistant', content: 'Done.' }, 'stop')
}

function completion(turn: number, message: object, finish: string): object {
  return {
    id: `chatcmpl-bench-${turn + 1}`,
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'fake',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: { prompt_tokens: 900, completion_tokens: 40, total_tokens: 940 },
  }
}

/** Never a JSON parse: a quote inside a JSON string is escaped, so this finds real keys only. */
const toolResult = /"role"\s*:\s*"tool"/g
const nodeNumber = /src\/app_(\d+)\.py/

/** The turn a request asks for, 0 to 3, and its answer. A request without a node is not an agent's, but the client's own. */
export function answerTo(request: string): { turn: number; isAgents: boolean; reply: string } {
  const turn = Math.min(request.match(toolResult)?.length ?? 0, calls.length)
  const number = nodeNumber.exec(request)?.[1]
  return { turn, isAgents: number !== undefined, reply: (replies[turn] ?? []).join(number ?? 'unknown') }
}
