import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { openGitHubApp } from '#code-hosts/github-client.ts'
import { silentLog } from '#platform/log.ts'
import { until } from '#testing/until.ts'
import { openReads } from './repository-reads.ts'

const repository = { id: 1, owner: 'ada', name: 'shop' }

/** A GitHub whose files never end. `isClosed`: whether somebody has stopped to listen to one. */
async function endlessFiles(type: string) {
  const seen = { isClosed: false }
  const answer = ({ url = '' }: IncomingMessage, response: ServerResponse) => {
    if (url.includes('/access_tokens')) {
      response.writeHead(201, { 'content-type': 'application/json' })
      const expires = new Date(Date.now() + 3_600_000).toISOString()
      return response.end(JSON.stringify({ token: 't', expires_at: expires, permissions: {} }))
    }
    response.writeHead(200, { 'content-type': type })
    const more = () => {
      while (!response.destroyed && response.write('a'.repeat(10_000)));
    }
    response.on('drain', more).on('close', () => void (seen.isClosed = true))
    return more()
  }
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => server.close().closeAllConnections())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const privateKey = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  })
  const of = { appId: '1', privateKey: String(privateKey), apiUrl: `http://127.0.0.1:${port}`, log: silentLog }
  const client = await openGitHubApp(of).clientFor({ installationId: 1, repository }, { contents: 'read' })
  return { seen, reads: openReads(client, repository) }
}

it.each([
  ['a file no more is fetched than may be read', 'application/vnd.github.raw+json; charset=utf-8', 65_537],
  ['a folder of that name nothing is, however long its list is', 'application/json; charset=utf-8', undefined],
])('of %s', async (_what, type, length) => {
  const { seen, reads } = await endlessFiles(type)
  expect((await reads.readText('remora.yaml', 'main', 65_536))?.length).toBe(length)
  await until(() => seen.isClosed)
})
