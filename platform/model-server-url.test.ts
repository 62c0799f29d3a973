import { describe, expect, it } from 'vitest'
import { faultOfServerUrl, modelServerUrl } from './server-urls.ts'

describe('the address of a model server', () => {
  it.each(['http://host:8000/v1', 'https://host/team/v1/', 'http://[::1]:1'])('may be %s', (text) => {
    expect(faultOfServerUrl(text)).toBeUndefined()
  })

  it.each([
    ['localhost:8000/v1', 'must begin with http:// or https://, such as http://host:8000/v1, not localhost:8000/v1'],
    ['host/v1', 'must begin with http:// or https://, such as http://host:8000/v1, not host/v1'],
    ['ftp://host/v1', 'must begin with http:// or https://, such as http://host:8000/v1, not ftp://host/v1'],
    [
      'http://me:secret@host/v1',
      'must be without a login, since none is sent (a key goes into REMORA_MODEL_API_KEY): http://host/v1',
    ],
    ['http://host/v1?api-version=2', 'must be without a query, since none is sent: http://host/v1?api-version=***'],
  ])('is not %s, which is said without its secrets', (text, words) => {
    expect(faultOfServerUrl(text)).toBe(words)
  })

  it.each([
    ['http://host:8000', 'http://host:8000/v1'],
    ['http://host:8000/', 'http://host:8000/v1'],
    ['http://host/team/v2/', 'http://host/team/v2'],
  ])('%s means %s', (text, url) => {
    expect(modelServerUrl(text)).toBe(url)
  })
})
