import { Hono } from 'hono'
import type { ApiEnv } from '../http/api-env.ts'
import { apiDocument } from './api-document.ts'
import { docsPage } from './docs-page.ts'
import { readReference } from './read-reference.ts'
import { referenceEndpoints } from './reference-endpoints.ts'

/** The document and the page, both made once. Without a token: they say nothing but what the source says. */
export function referenceRoutes(): Hono<ApiEnv> {
  const document = apiDocument()
  const json = JSON.stringify(document)
  const page = docsPage(readReference(document))
  const caching = { 'cache-control': 'no-cache' }
  return new Hono<ApiEnv>()
    .get(referenceEndpoints.document.path, (c) => c.body(json, 200, { 'content-type': 'application/json', ...caching }))
    .get(referenceEndpoints.page.path, (c) =>
      c.body(page.html, 200, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': page.policy,
        ...caching,
      }),
    )
}
