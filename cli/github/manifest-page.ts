import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AppManifest } from '#code-hosts/app-manifest.ts'
import { AppError } from '#domain/error.ts'
import { untilAborted } from '#platform/clock.ts'
import { boundPort, closeServer } from '#platform/http-health.ts'

/** `newAppUrl`: the page of GitHub that takes manifests. */
export type ManifestForm = { newAppUrl: string; manifest: AppManifest }

/** GitHub takes the code of a manifest for so long. */
const openMs = 3_600_000

/** Returns the page with the form: a browser must send it, since GitHub asks there who makes the app, and with which name. */
export function manifestPage({ newAppUrl, manifest }: ManifestForm, state: string): string {
  const action = new URL(newAppUrl)
  action.searchParams.set('state', state)
  const { name, default_permissions: permissions } = manifest
  const rights = Object.entries(permissions).map(([right, level]) => `<li>${right}: ${level}</li>`)
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>A GitHub App for Remora</title>
<h1>A GitHub App for Remora</h1>
<p>${escaped(action.host)} asks for its name next (${escaped(name)}), and makes it. It may, where you install it:</p>
<ul>${rights.join('')}</ul>
<form action="${escaped(action.href)}" method="post">
<input type="hidden" name="manifest" value="${escaped(JSON.stringify(manifest))}">
<button type="submit">Create the GitHub App</button>
</form></html>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** Returns a random word that makes the address of the local page, and the state that GitHub gives back, unknown to others. */
export function oneTimeWord(): string {
  return randomBytes(24).toString('base64url')
}

export type CodePage = { address: string; code(): Promise<string>; close(): Promise<void> }

/**
 * Serves the page on this machine, at an address that only its reader knows, and takes the code with which GitHub sends the browser
 * back. An answer with another state than ours counts for nothing. `code` throws HOST_001 after an hour.
 */
export async function openCodePage(
  formFor: (redirectUrl: string) => ManifestForm,
  signal: AbortSignal,
): Promise<CodePage> {
  const [path, state] = [`/${oneTimeWord()}`, oneTimeWord()]
  const received = Promise.withResolvers<string>()
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', origin)
    if (request.method !== 'GET' || request.headers.host !== new URL(origin).host) return answer(response, 403, no)
    if (pathname === path) return answer(response, 200, manifestPage(formFor(`${origin}${donePath}`), state))
    if (pathname !== donePath) return answer(response, 404, no)
    const code = searchParams.get('code') ?? ''
    if (!isSame(searchParams.get('state') ?? '', state) || !/^\w{10,100}$/.test(code)) return answer(response, 403, no)
    answer(response, 200, done)
    return received.resolve(code)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${boundPort(server)}`
  return {
    address: `${origin}${path}`,
    async code() {
      const limit = AbortSignal.timeout(openMs)
      return untilAborted(received.promise, AbortSignal.any([signal, limit])).catch((error: unknown) => {
        if (!limit.aborted) throw error
        throw new AppError(
          'HOST_001',
          'no app was made within an hour, and GitHub takes no code for longer: begin again',
        )
      })
    },
    close: () => closeServer(server),
  }
}

const donePath = '/made'
const no = '<!doctype html><title>No</title><p>This is not the address that was printed.</p>'
const done = '<!doctype html><title>Done</title><p>The app is made. The terminal has what comes next.</p>'

function answer(response: ServerResponse, status: number, text: string): void {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  }
  response.writeHead(status, headers).end(text)
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)]
  return left.length === right.length && timingSafeEqual(left, right)
}
