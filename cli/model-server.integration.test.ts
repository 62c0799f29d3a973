import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { silentServers } from './model-server.ts'

it('names the servers that do not answer, and not one that refuses', async () => {
  const server = createServer((_request, response) => response.writeHead(401).end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const servers = `http://127.0.0.1:${port}/v1, http://127.0.0.1:9/v1/`
  expect(await silentServers(servers, new AbortController().signal)).toEqual(['http://127.0.0.1:9/v1/'])
  server.close()
})
