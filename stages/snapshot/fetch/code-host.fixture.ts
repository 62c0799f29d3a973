import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import { packTar } from 'modern-tar'
import { gzipSync } from 'node:zlib'
import { type ReadAccess, readAccessPath, ReadAccessRequest } from '#code-hosts/read-access.ts'
import { RepositorySource } from '#domain/repository-source.ts'
import { boundPort } from '#platform/http-health.ts'

export type Answer = RequestListener

/** Commit ids: the same digit in every place. */
export const commitOf = (digit: string) => digit.repeat(40)

export type TestHost = Awaited<ReturnType<typeof openTestHost>>

/** A token as the publisher would hand it out. It is nowhere but in answers of this publisher. */
export const token = 'ghs_Token0fTheTest0123456789abcdefghij'
const secret = 'the-secret-of-the-publisher'

/** A repository of it, as a request names it. */
export function aSource(over: Partial<RepositorySource> = {}): RepositorySource {
  const repository = { id: 1, owner: 'acme', name: 'shop' }
  return RepositorySource.parse({ host: 'github', installationId: 7, repository, ref: 'main', ...over })
}

/** A publisher, and the two servers of a code host: one that knows tokens, and the one that it leads to for archives. */
export async function openTestHost() {
  const commits = new Map<string, Uint8Array>()
  const asked: ReadAccessRequest[] = []
  const seen: { server: 'api' | 'archives'; url: string; headers: IncomingHttpHeaders }[] = []
  const answers: { access?: Answer; api?: Answer; archives?: Answer; branch: string; base: string | null } = {
    branch: commitOf('a'),
    base: null,
  }
  const archives = await listening((request, response) => {
    seen.push({ server: 'archives', url: request.url ?? '', headers: request.headers })
    if (answers.archives !== undefined) return answers.archives(request, response)
    const found = commits.get(request.url?.slice(1, 41) ?? '')
    return found === undefined ? response.writeHead(404).end() : response.end(found)
  })
  const api = await listening((request, response) => {
    seen.push({ server: 'api', url: request.url ?? '', headers: request.headers })
    if (answers.api !== undefined) return answers.api(request, response)
    if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end()
    return response.writeHead(302, { location: `${archives.url}${request.url}?token=${token}` }).end()
  })
  const archiveOf = (commit: string) => ({
    url: `${api.url}/${commit}`,
    headers: { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' },
  })
  const publisher = await listening(async (request, response) => {
    if (request.headers.authorization !== `Bearer ${secret}` || request.url !== readAccessPath) {
      return response.writeHead(401).end('{}')
    }
    const ask = ReadAccessRequest.parse(await json(request))
    asked.push(ask)
    if (answers.access !== undefined) return answers.access(request, response)
    const commit = ask.commit ?? answers.branch
    const base = answers.base === null ? null : { commit: answers.base, archive: archiveOf(answers.base) }
    const access: ReadAccess = { commit, archive: archiveOf(commit), base }
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(access))
  })
  return {
    publisher: { url: publisher.url, secret },
    answers,
    asked,
    seen,
    put: (commit: string, archive: Uint8Array) => void commits.set(commit, archive),
    async close() {
      for (const one of [publisher, api, archives]) {
        one.server.closeAllConnections()
        one.server.close()
      }
    },
  }
}

async function listening(
  answer: (...given: Parameters<RequestListener>) => unknown,
): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${boundPort(server)}` }
}

/** Answers with this status and body. */
export function saying(status: number, body: object = {}, headers: Record<string, string> = {}): Answer {
  return (_request, response) => void response.writeHead(status, headers).end(JSON.stringify(body))
}

/** As a code host packs it: in one folder. A name that ends with a slash is an empty folder. */
export async function hostArchive(
  files: Readonly<Record<string, string>>,
  top = 'acme-shop-aaaaaaa/',
): Promise<Uint8Array> {
  const entries = Object.entries({ '': '', ...files }).map(([name, body]) => {
    const isFolder = name === '' || name.endsWith('/')
    const type = isFolder ? ('directory' as const) : ('file' as const)
    return { header: { name: `${top}${name}`, type, size: Buffer.byteLength(body) }, body }
  })
  return gzipSync(await packTar(entries))
}
