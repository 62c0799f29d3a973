import { z } from '@hono/zod-openapi'
import { OperationId } from '#domain/ids.ts'
import { endpoint } from '../http/endpoint.ts'
import { RunParams } from '../runs/run-schema.ts'
import { TranscriptView } from './transcript-schema.ts'

const prose = `
Every message in order, with the times, tokens and errors of each request to the model and the whole answer of each tool.
JSON, or with \`Accept: text/markdown\` or \`format=markdown\` a text for people. Nothing is cut; only what scripts asked
of the host is told in short in the text, and the server's own words of each reply are in the JSON alone.

It is there once the operation has ended (RUN_006 before), and while it waits for a person: \`outcome\` is null then, and
the last entry is the question. Of attempts that were handed back or lost with their worker there is none: events tell
of them. RUN_004 also for an operation that ended before it began, or whose attempt left no record.`

const TranscriptFormat = z.enum(['json', 'markdown']).openapi('TranscriptFormat')

/** What was said in one operation. */
export const transcriptEndpoints = {
  transcript: endpoint(
    {
      scope: 'runs:read',
      problems: ['RUN_001', 'RUN_004', 'RUN_005', 'RUN_006', 'STORE_002', 'STORE_003'],
    },
    {
      method: 'get',
      path: '/v1/runs/{run_id}/operations/{operation_id}/transcript',
      operationId: 'getTranscript',
      summary: 'The whole conversation of one operation',
      description: prose.trim(),
      request: {
        params: RunParams.extend({ operation_id: OperationId }),
        query: z.strictObject({
          format: TranscriptFormat.optional().openapi({ param: { description: 'wins over `Accept`' } }),
        }),
      },
      responses: {
        200: {
          description: 'the transcript',
          content: { 'application/json': { schema: TranscriptView }, 'text/markdown': { schema: z.string() } },
        },
      },
    },
  ),
} as const
