import { Agent, OpenAIChatCompletionsModel, Runner, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { measureLoop } from '../peers/measure-peer.ts'
import { agentTools, instructions, maxTurns, runFrameworkAgent, sampling } from './framework-agent.mjs'

await measureLoop(({ url }) => {
  setTracingDisabled(true)
  const client = new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: 0 })
  const agent = new Agent({
    name: 'docstring',
    instructions,
    model: new OpenAIChatCompletionsModel(client, sampling.model),
    modelSettings: { temperature: sampling.temperature, maxTokens: sampling.maxTokens, toolChoice: 'required' },
    tools: agentTools.map(({ name, description, schema, run }) =>
      tool({ name, description, parameters: schema, execute: async (args) => JSON.stringify(run(args)) }),
    ),
    resetToolChoice: false,
    toolUseBehavior: { stopAtToolNames: ['submit_result'] },
  })
  const runner = new Runner({ tracingDisabled: true })
  return (number) => runFrameworkAgent(number, (message) => runner.run(agent, message, { maxTurns }))
})
