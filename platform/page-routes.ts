import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { AppError } from '#domain/error.ts'

/** scripts/build-dashboard.ts has written it; there are no folders in it. */
const usualFolder = fileURLToPath(new URL('../dashboard/dist/', import.meta.url))

const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html' }

/** No script, style or image of elsewhere, and no text that becomes code: what a repository or a model wrote can only be shown. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"

/** The names of scripts and styles hold the hash of their content. */
const forEver = 'public, max-age=31536000, immutable'

/** Serves the page, which needs no token: all that it shows it asks the API for. HTTP_001 where it was not built. */
export function pageRoutes(folder = usualFolder): Hono {
  const answer = async (name: string, caching: string) => {
    // Only what is in the folder has a name there, and it may be built anew at any moment.
    const names: readonly string[] = await readdir(folder).catch(() => [])
    if (!names.includes(name))
      throw new AppError('HTTP_001', `There is no ${name} of the page: "npm run prepare" builds it in a clone.`)
    const type = types[extname(name)] ?? 'application/octet-stream'
    const headers = { 'content-type': `${type}; charset=utf-8`, 'cache-control': caching }
    return new Response(await readFile(join(folder, name)), {
      headers: { ...headers, 'content-security-policy': policy },
    })
  }
  return new Hono()
    .get('/', compress(), () => answer('index.html', 'no-cache'))
    .get('/assets/*', compress(), (c) => answer(c.req.path.slice('/assets/'.length), forEver))
}
