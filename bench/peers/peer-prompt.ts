import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'

const Bundle = z.object({ initial_context: z.object({ system_prompt: z.string() }) })
const bundleFile = new URL('../agents/loop/bundle.yaml', import.meta.url)
/** The system prompt of the benchmark's bundle. */
export const systemPrompt = Bundle.parse(parse(readFileSync(bundleFile, 'utf8'))).initial_context.system_prompt

const text = (description: string) => ({ type: 'string', description })
/** The bundle's tools as the wire has them. */
export const tools = [
  tool('read_file', 'Read a text file of the workspace.', { path: text('Path in the workspace') }),
  tool('write_file', 'Write a text file of the workspace.', {
    path: text('Path in the workspace'),
    content: text('The whole new text'),
  }),
  tool('submit_result', 'Submit the result. Ends the work.', {
    summary: text('One sentence'),
    status: { type: 'string', enum: ['success', 'failed', 'skipped'] },
  }),
]

function tool(name: string, description: string, properties: Record<string, object>) {
  const parameters = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
  return { type: 'function' as const, function: { name, description, parameters } }
}
