import { z } from '@hono/zod-openapi'
import { endpoint } from '../http/endpoint.ts'

const OpenApiDocument = z.record(z.string(), z.unknown()).openapi('OpenApiDocument')

/** The description of the API by itself. */
export const referenceEndpoints = {
  document: endpoint(
    { scope: null },
    {
      method: 'get',
      path: '/openapi.json',
      operationId: 'getOpenApiDocument',
      summary: 'This API as an OpenAPI 3.1 document',
      responses: {
        200: {
          description: 'the document',
          content: { 'application/json': { schema: OpenApiDocument } },
        },
      },
    },
  ),
  page: endpoint(
    { scope: null },
    {
      method: 'get',
      path: '/docs',
      operationId: 'getReferencePage',
      summary: 'This API as a page to read',
      responses: { 200: { description: 'the page', content: { 'text/html': { schema: z.string() } } } },
    },
  ),
} as const
