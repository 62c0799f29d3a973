import { z } from '@hono/zod-openapi'
import { OperationId } from '#domain/ids.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { TranscriptView } from '#schemas/transcript-schema.ts'
import { endpoint } from '../../http/endpoint.ts'

const prose = `
Every message in order, with the times, tokens and errors of each request to the model and the whole answer of each tool.
The answer is JSON, or with \`Accept: text/markdown\` or \`format=markdown\` a text for people. Nothing is cut, except that the
text shortens the external calls of scripts and leaves out the raw reply of the server.

The transcript exists once the operation has ended (RUN_006 before), and while it waits for a person: \`outcome\` is then
null, and the last entry is the question. Attempts that were handed back, or whose worker was lost, have no transcript, only
events. RUN_004 also for an operation that ended before it began, or whose attempt left no record.`

const TranscriptFormat = z.enum(['json', 'markdown']).openapi('TranscriptFormat')

export const transcriptEndpoints = {
  transcript: endpoint('runs:read', ['RUN_001', 'RUN_004', 'RUN_005', 'RUN_006', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/operations/{operation_id}/transcript',
    operationId: 'getTranscript',
    summary: 'The whole conversation of one operation',
    description: prose.trim(),
    request: {
      params: RunParams.extend({ operation_id: OperationId }),
      query: z.strictObject({
        format: TranscriptFormat.optional().openapi({ param: { description: 'takes precedence over `Accept`' } }),
      }),
    },
    responses: {
      200: {
        description: 'the transcript',
        content: { 'application/json': { schema: TranscriptView }, 'text/markdown': { schema: z.string() } },
      },
    },
  }),
} as const
