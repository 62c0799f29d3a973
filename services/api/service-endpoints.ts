import { z } from '@hono/zod-openapi'
import { endpoint } from './http/endpoint.ts'

const Liveness = z.strictObject({ status: z.literal('ok') }).openapi('Liveness')
const Readiness = z.strictObject({ status: z.literal('ready') }).openapi('Readiness')
const NotReady = z.strictObject({ status: z.literal('not ready'), failing: z.array(z.string()) }).openapi('NotReady')

/** Whether the service lives and what it depends on answers. */
export const probeEndpoints = {
  live: endpoint(
    { scope: null },
    {
      method: 'get',
      path: '/healthz',
      operationId: 'getLiveness',
      summary: 'The process lives',
      responses: {
        200: {
          description: 'it does',
          content: { 'application/json': { schema: Liveness } },
        },
      },
    },
  ),
  ready: endpoint(
    { scope: null },
    {
      method: 'get',
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Redis and the object store answer',
      responses: {
        200: {
          description: 'they do',
          content: { 'application/json': { schema: Readiness } },
        },
        503: {
          description: 'which do not',
          content: { 'application/json': { schema: NotReady } },
        },
      },
    },
  ),
} as const

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
