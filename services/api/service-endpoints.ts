import { z } from '@hono/zod-openapi'
import { Liveness, NotReady, Readiness } from '#schemas/readiness-schema.ts'
import { endpoint, jsonAnswer } from './http/endpoint.ts'

/** Probes of the service and of the stores that it needs. */
export const probeEndpoints = {
  live: endpoint(null, [], {
    method: 'get',
    path: '/healthz',
    operationId: 'getLiveness',
    summary: 'The process is alive',
    responses: { 200: jsonAnswer('it is alive', Liveness) },
  }),
  ready: endpoint(null, [], {
    method: 'get',
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Redis and the object store can be used',
    responses: {
      200: jsonAnswer('both stores can be used', Readiness),
      503: jsonAnswer('a store is away or full', NotReady),
    },
  }),
} as const

const OpenApiDocument = z.record(z.string(), z.unknown()).openapi('OpenApiDocument')

/** The page that people look at runs with. */
export const pageEndpoint = endpoint(null, [], {
  method: 'get',
  path: '/',
  operationId: 'getDashboard',
  summary: 'The dashboard',
  responses: { 200: { description: 'the page', content: { 'text/html': { schema: z.string() } } } },
})

/** The description of the API. */
export const referenceEndpoints = {
  document: endpoint(null, [], {
    method: 'get',
    path: '/openapi.json',
    operationId: 'getOpenApiDocument',
    summary: 'This API as an OpenAPI 3.1 document',
    responses: { 200: jsonAnswer('the document', OpenApiDocument) },
  }),
  page: endpoint(null, [], {
    method: 'get',
    path: '/docs',
    operationId: 'getReferencePage',
    summary: 'This API as a page to read',
    responses: { 200: { description: 'the page', content: { 'text/html': { schema: z.string() } } } },
  }),
} as const
