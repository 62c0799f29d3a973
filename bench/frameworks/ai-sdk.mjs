import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, hasToolCall, isStepCount, tool } from 'ai'
import { measureLoop } from '../peers/measure-peer.ts'
import { agentTools, instructions, maxTurns, runFrameworkAgent, sampling } from './framework-agent.mjs'

await measureLoop(({ url }) => {
  const model = createOpenAICompatible({ name: 'fake', baseURL: url, apiKey: 'none' })(sampling.model)
  const tools = Object.fromEntries(
    agentTools.map(({ name, description, schema, run }) => [
      name,
      tool({ description, inputSchema: schema, execute: async (args) => run(args) }),
    ]),
  )
  const fixed = {
    model,
    tools,
    instructions,
    toolChoice: 'required',
    temperature: sampling.temperature,
    maxOutputTokens: sampling.maxTokens,
    maxRetries: 0,
    stopWhen: [hasToolCall('submit_result'), isStepCount(maxTurns)],
  }
  return (number) => runFrameworkAgent(number, (prompt) => generateText({ ...fixed, prompt }))
})
