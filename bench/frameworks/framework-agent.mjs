import { z } from 'zod'
import { nodeMessage, nodeSource } from '../model/node-source.ts'
import { systemPrompt, tools } from '../peers/peer-agent.ts'

export const instructions = systemPrompt
export const maxTurns = 3
export const sampling = { model: 'fake', temperature: 0, maxTokens: 512 }

/** Files of the agents at work; every agent has one of its own. */
const files = new Map()

const carryOut = {
  read_file: ({ path }) => ({ result: files.get(path) ?? null }),
  write_file({ path, content }) {
    files.set(path, content)
    return { result: 'WRITE-RESULT-MARK', bytes: content.length }
  },
  submit_result: ({ status }) => ({ accepted: status === 'success' }),
}

const schemas = {
  read_file: z.object({ path: z.string().describe('Path in the workspace') }),
  write_file: z.object({
    path: z.string().describe('Path in the workspace'),
    content: z.string().describe('The whole new text'),
  }),
  submit_result: z.object({
    summary: z.string().describe('One sentence'),
    status: z.enum(['success', 'failed', 'skipped']),
  }),
}

/** The tools of the other peers, with the zod schemas that the frameworks want. */
export const agentTools = tools.map(({ function: { name, description } }) => ({
  name,
  description,
  schema: schemas[name],
  run: carryOut[name],
}))

/** Runs `ask` with the first message about node `number`, whose file is there while it runs. */
export async function runFrameworkAgent(number, ask) {
  const source = nodeSource(number)
  files.set(source.path, source.file)
  await ask(nodeMessage(source))
  files.delete(source.path)
}
