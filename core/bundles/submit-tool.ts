import type { ToolDefinition } from '#domain/turn.ts'

/** The terminal tool every bundle has: its call ends the conversation. */
export const submitToolName = 'submit_result'

export const submitTool: ToolDefinition = {
  name: submitToolName,
  description: 'Submit the result and end the work. Call it once, as the last call.',
  parameters: {
    type: 'object',
    properties: {
      status: {
        type: 'string',
        enum: ['success', 'failed', 'skipped'],
        description: 'success: done. skipped: nothing had to be done. failed: it could not be done.',
      },
      summary: { type: 'string', description: 'What was done, in one or two sentences.' },
      changed_files: { type: 'array', items: { type: 'string' }, description: 'Paths of the files that were changed.' },
      details: { type: 'object', description: 'Anything more that is worth keeping.' },
      error: { type: 'string', description: 'Why it failed.' },
    },
    required: ['status', 'summary'],
    additionalProperties: false,
  },
}
