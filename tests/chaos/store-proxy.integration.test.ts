import { createServer } from 'node:http'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { openStoreProxy, type StoreProxy } from './store-proxy.ts'

describe('the proxy before the object store', () => {
  const store = createServer((request, response) => {
    response.end(`${request.method} ${request.url} ${request.headers.authorization}`)
  })
  let proxy: StoreProxy

  beforeEach(async () => {
    store.listen(0, '127.0.0.1')
    await once(store, 'listening')
    proxy = await openStoreProxy(`http://127.0.0.1:${boundPort(store)}`)
  })
  afterEach(async () => {
    await proxy.close()
    await closeServer(store)
  })

  const put = () => fetch(`${proxy.endpoint}/a?b=1`, { method: 'PUT', body: 'x', headers: { authorization: 'signed' } })

  it('passes requests on as they are', async () => {
    expect(await (await put()).text()).toBe('PUT /a?b=1 signed')
  })

  it('refuses them, cuts them off or holds them up while there is trouble', async () => {
    proxy.setFault('503')
    expect((await put()).status).toBe(503)
    proxy.setFault('reset')
    await expect(put()).rejects.toThrow('fetch failed')
    proxy.setFault('slow')
    expect((await put()).status).toBe(200)
    proxy.setFault(undefined)
    expect((await put()).status).toBe(200)
  })
})
