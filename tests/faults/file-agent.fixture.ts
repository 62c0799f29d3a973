import type { ModelPool } from '#models/model-pool.ts'
import { submitTool } from '#bundles/tool-definition.ts'
import { done, pathTool, scriptedAgent } from '#stages/operate/agent/scripted-agent.fixture.ts'
import type { AgentEvent } from '#stages/operate/agent/journal.ts'
import type { AgentRun } from '#stages/operate/agent/run-agent.ts'
import { firstMessages, openTranscript } from '#stages/operate/agent/open-transcript.ts'
import type { Tool } from '#stages/operate/tools/tool-set.ts'

/** An agent with one file in memory that it reads, writes and reports on; a read, a write and the submission are its turns. */
export function fileAgent(model: Pick<ModelPool, 'complete'>): {
  agent: AgentRun
  files: Map<string, string>
  events: AgentEvent[]
} {
  const files = new Map([['src/a.py', 'x = 1']])
  const answer = (result: unknown) => ({ ...done, result: { ...done.result, result } })
  const reads = pathTool('read_file', 'reads', async ({ path }) => answer({ content: files.get(String(path)) }))
  const writes = pathTool('write_file', 'writes', async ({ path, content }) => {
    files.set(String(path), String(content))
    return answer({ path })
  })
  const properties = { path: { type: 'string' }, content: { type: 'string' } }
  const parameters = { type: 'object', properties, required: ['path', 'content'] }
  const tools: Tool[] = [
    reads,
    { ...writes, definition: { ...writes.definition, parameters } },
    { ...writes, definition: submitTool },
  ]
  const { agent, events } = scriptedAgent([], {}, tools)
  const messages = firstMessages('You work on files.', 'Put a newline at the end of src/a.py.')
  const settings = { ...agent.settings, model: 'rehearsal', maxTurns: 4 }
  return { agent: { ...agent, transcript: openTranscript({ messages }), model, settings }, files, events }
}
