import { z } from '@hono/zod-openapi'
import { endpoint } from './http/endpoint.ts'

/** Whether the service lives and what it depends on answers. */
export const probeEndpoints = {
  live: endpoint(
    { scope: null },
    {
      method: 'get',
      path: '/healthz',
      summary: 'The process lives',
      responses: {
        200: {
          description: 'it does',
          content: { 'application/json': { schema: z.strictObject({ status: z.literal('ok') }) } },
        },
      },
    },
  ),
  ready: endpoint(
    { scope: null },
    {
      method: 'get',
      path: '/readyz',
      summary: 'Redis and the object store answer',
      responses: {
        200: {
          description: 'they do',
          content: { 'application/json': { schema: z.strictObject({ status: z.literal('ready') }) } },
        },
        503: {
          description: 'which do not',
          content: {
            'application/json': {
              schema: z.strictObject({ status: z.literal('not ready'), failing: z.array(z.string()) }),
            },
          },
        },
      },
    },
  ),
} as const
