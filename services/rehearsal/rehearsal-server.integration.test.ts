import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRehearsal, type Rehearsal } from './rehearsal-server.ts'

let rehearsal: Rehearsal
beforeAll(async () => {
  rehearsal = await startRehearsal({ host: '127.0.0.1', port: 0 })
})
afterAll(() => rehearsal.close())

const tools = ['read_file', 'write_file', 'submit_result'].map((name) => ({ type: 'function', function: { name } }))
const chat = (extra: object = {}) =>
  fetch(`${rehearsal.url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'x', messages: [{ role: 'user', content: 'Read a.py' }], tools, ...extra }),
  })

describe('chat completions', () => {
  it('answers a tool call, names itself and counts tokens', async () => {
    const reply = await (await chat()).json()
    expect(reply).toMatchObject({
      object: 'chat.completion',
      model: 'rehearsal model (no LLM)',
      system_fingerprint: 'rehearsal model (no LLM)',
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            content: null,
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a.py"}' } },
            ],
          },
        },
      ],
    })
    expect(reply).toHaveProperty('usage.prompt_tokens', expect.any(Number))
  })

  it('streams the same call in chunks that end with usage and [DONE]', async () => {
    const response = await chat({ stream: true, stream_options: { include_usage: true } })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const lines = (await response.text()).split('\n\n').filter(Boolean)
    expect(lines.at(-1)).toBe('data: [DONE]')
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.replace('data: ', '')))
    expect(chunks.every((chunk) => chunk.object === 'chat.completion.chunk')).toBe(true)
    const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice: { delta: object }) => choice.delta))
    const calls = deltas.flatMap((delta) => delta.tool_calls ?? [])
    expect(calls[0]).toMatchObject({ index: 0, id: 'call_1', function: { name: 'read_file', arguments: '' } })
    expect(calls.map((call: { function: { arguments: string } }) => call.function.arguments).join('')).toBe(
      '{"path":"a.py"}',
    )
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls')
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } })
  })

  it('refuses what is no request and a tool result that answers no call', async () => {
    expect((await chat({ messages: 'hello' })).status).toBe(400)
    const orphaned = await chat({ messages: [{ role: 'tool', tool_call_id: 'call_9', content: '{}' }] })
    expect(orphaned.status).toBe(400)
    expect(await orphaned.text()).toContain('call_9')
  })

  it('answers 500 to a conversation with a call whose arguments are no JSON, as llama.cpp does for ever', async () => {
    const called = { id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"pa' } }
    const answer = await chat({
      messages: [
        { role: 'user', content: 'Read a.py' },
        { role: 'assistant', content: null, tool_calls: [called] },
        { role: 'tool', tool_call_id: 'call_1', content: 'not valid JSON' },
      ],
    })
    expect(answer.status).toBe(500)
    expect(await answer.text()).toContain('read_file')
  })
})

describe('the other paths', () => {
  const get = async (path: string) => (await fetch(`${rehearsal.origin}${path}`)).text()

  it('lists its model and reports that it is healthy', async () => {
    expect(await get('/v1/models')).toContain('"id":"rehearsal"')
    expect(await get('/healthz')).toContain('ok')
    expect(await get('/readyz')).toContain('ready')
    expect((await fetch(`${rehearsal.origin}/nowhere`)).status).toBe(404)
  })

  it('counts what is in progress under the name of vLLM', async () => {
    expect(await get('/metrics')).toMatch(/vllm:num_requests_running\{model_name="rehearsal"\} 0\n/)
  })

  it('changes faults at run time and refuses unknown ones', async () => {
    const setFaults = (body: object) =>
      fetch(`${rehearsal.origin}/faults`, { method: 'POST', body: JSON.stringify(body) })
    expect(await (await setFaults({ shares: { '503': 1 }, seed: 4, times: 1 })).json()).toMatchObject({ seed: 4 })
    const [failed, answered] = [await chat(), await chat()]
    expect([failed.status, answered.status]).toEqual([503, 200])
    await Promise.all([failed.text(), answered.text()])
    expect((await setFaults({ shares: { brimstone: 1 } })).status).toBe(400)
  })
})

describe('main', () => {
  it('prints where it listens and ends on SIGTERM', async () => {
    const child = spawn(process.execPath, ['services/rehearsal/main.ts'], {
      env: { REMORA_REHEARSAL_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(createInterface(child.stdout), 'line')
    const { url, pid } = JSON.parse(String(line))
    expect(pid).toBe(child.pid)
    expect((await fetch(`${url}/models`)).status).toBe(200)
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })
})
