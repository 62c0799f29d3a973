import { openModelPool } from '#models/model-pool.ts'
import { journalOver, type AgentEvent } from '#stages/operate/agent/journal.ts'
import { runAgent } from '#stages/operate/agent/run-agent.ts'
import { firstMessages, openTranscript } from '#stages/operate/agent/open-transcript.ts'
import type { Tool, ToolSet } from '#stages/operate/tools/tool-set.ts'
import { nodeMessage, nodeSource, type NodeSource } from '../model/node-source.ts'
import { systemPrompt, tools } from './peer-agent.ts'
import { measureLoop } from './measure-peer.ts'

/**
 * Our loop and our model pool as the worker uses them: whole history, arguments checked against their schemas, limits, a
 * transcript and events. Only the tools and the journal are in memory, as those of the peers are.
 */
const limits = {
  maxTurns: 8,
  gather: [],
  submitting: [],
  maxMessages: 40,
  maxContextTokens: 32_000,
  parallelTools: 4,
  verifyAttempts: 2,
}
const settings = { model: 'fake', temperature: 0, toolChoice: 'required' as const, maxTokens: 512, ...limits }
const definitions = tools.map((tool) => tool.function)

function toolsOver(source: NodeSource): ToolSet {
  const files = new Map([[source.path, source.file]])
  const carryOut: Record<string, (args: Record<string, unknown>) => unknown> = {
    read_file: ({ path }) => files.get(String(path)) ?? null,
    write_file({ path, content }) {
      files.set(String(path), String(content))
      return 'WRITE-RESULT-MARK'
    },
  }
  const known = new Map<string, Tool>()
  for (const definition of definitions) {
    const run = carryOut[definition.name]
    if (run !== undefined) known.set(definition.name, toolOf(definition, run))
  }
  return { definitions, get: (name) => known.get(name) }
}

function toolOf(definition: Tool['definition'], carryOut: (args: Record<string, unknown>) => unknown): Tool {
  return {
    definition,
    effects: definition.name === 'read_file' ? 'reads' : 'writes',
    async run(args) {
      const result = { outcome: 'success' as const, result: carryOut(args), summary: 'Done.', knowledgeDelta: {} }
      return { kind: 'done', result, externals: [] }
    },
    resume: async () => Promise.reject(new Error('no tool of the benchmark waits')),
  }
}

await measureLoop(({ url, concurrency }) => {
  const poolLimits = { requestTimeoutMs: 30_000, retryBudgetMs: 30_000, maxInFlight: concurrency }
  const model = openModelPool({ endpoints: [{ url }], ...poolLimits })
  return async (number) => {
    const source = nodeSource(number)
    const events: AgentEvent[] = []
    const ending = await runAgent(
      {
        transcript: openTranscript({ messages: firstMessages(systemPrompt, nodeMessage(source)) }),
        tools: toolsOver(source),
        model,
        settings,
        journal: journalOver((event) => void events.push(event)),
      },
      new AbortController().signal,
    )
    if (ending.kind !== 'submitted') throw new Error(`agent ${number} ended without a submission`)
    if (events.length === 0) throw new Error(`agent ${number} recorded no event`)
  }
})
