import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { measureLoop } from '../peers/measure-peer.ts'
import { agentTools, instructions, runFrameworkAgent, sampling } from './framework-agent.mjs'

await measureLoop(({ url }) => {
  const tools = agentTools.map(({ name, description, schema, run }) =>
    tool(async (args) => JSON.stringify(run(args)), {
      name,
      description,
      schema,
      returnDirect: name === 'submit_result',
    }),
  )
  const model = new ChatOpenAI({
    ...sampling,
    apiKey: 'none',
    maxRetries: 0,
    useResponsesApi: false,
    configuration: { baseURL: url },
  })
  const agent = createReactAgent({
    llm: model.bindTools(tools, { tool_choice: 'required' }),
    tools,
    prompt: instructions,
  })
  const limits = { recursionLimit: 10 }
  return (number) =>
    runFrameworkAgent(number, (content) => agent.invoke({ messages: [{ role: 'user', content }] }, limits))
})
