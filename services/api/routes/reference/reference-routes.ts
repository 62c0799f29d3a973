import { readFile } from 'node:fs/promises'
import { Hono } from 'hono'
import { packageFile } from '#platform/package-file.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { referenceEndpoints } from '../../service-endpoints.ts'
import { apiDocument } from './api-document.ts'

/*
 * Swagger UI shows the document as a page. Its package has 13 MB and needs one other, which would report each installation to its maker, and
 * which `scarfSettings` and `allowScripts` of package.json switch off. Redoc, RapiDoc and Scalar were looked at, too: they bring 110 to 299
 * other packages along, 85 to 243 MB.
 */
const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Remora: HTTP API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</html>
`
// `model` shows fields with their descriptions instead of examples. With a `validatorUrl` Swagger UI would send the document's address to an outside server.
const options = "{ url: 'openapi.json', dom_id: '#page', defaultModelRendering: 'model', validatorUrl: null }"

/** All that the page loads comes from here, so that it works without the internet. */
const files = new Map([
  ['start.js', { type: 'text/javascript', read: async () => `SwaggerUIBundle(${options})\n` }],
  ['swagger-ui.css', { type: 'text/css', read: fileOf('swagger-ui-dist/swagger-ui.css') }],
  ['swagger-ui-bundle.js', { type: 'text/javascript', read: fileOf('swagger-ui-dist/swagger-ui-bundle.js') }],
])

function fileOf(name: string): () => Promise<string> {
  let text: Promise<string> | undefined
  return () => (text ??= readFile(packageFile(name), 'utf8'))
}

const caching = { 'cache-control': 'no-cache' }
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** They need no token, since they contain nothing secret. */
export function referenceRoutes(): Hono<ApiEnv> {
  let made: string | undefined
  // Not before somebody asks: it takes 150 ms, and most commands of the command line start an API.
  const document = () => (made ??= JSON.stringify(apiDocument()))
  return new Hono<ApiEnv>()
    .get(referenceEndpoints.document.path, (c) =>
      c.body(document(), 200, { 'content-type': 'application/json', ...caching }),
    )
    .get(referenceEndpoints.page.path, (c) => c.html(page, 200, { 'content-security-policy': pagePolicy, ...caching }))
    .get(`${referenceEndpoints.page.path}/*`, async (c) => {
      const file = files.get(c.req.path.slice(referenceEndpoints.page.path.length + 1))
      if (file === undefined) return c.notFound()
      return c.body(await file.read(), 200, {
        'content-type': `${file.type}; charset=utf-8`,
        'cache-control': 'max-age=3600',
      })
    })
}
