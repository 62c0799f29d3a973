import { withoutLogin } from './hide-secrets.ts'

/**
 * What is wrong with the address of a model server, without any secret of it; undefined where nothing is. A login or a
 * query in it would never be sent, as every request goes to a path below it.
 */
export function faultOfServerUrl(text: string): string | undefined {
  const shown = withoutLogin(text)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text.trim())) {
    return `must begin with http:// or https://, such as http://host:8000/v1, not ${shown}`
  }
  if (url.username !== '' || url.password !== '') {
    return `must be without a login, since none is sent (a key goes into REMORA_MODEL_API_KEY): ${shown}`
  }
  return url.search === '' && url.hash === '' ? undefined : `must be without a query, since none is sent: ${shown}`
}

/** The address that requests go below: one without a path means its `/v1`. For an address without a fault. */
export function modelServerUrl(text: string): string {
  const { origin, pathname } = new URL(text)
  const path = pathname.replace(/\/+$/, '')
  return `${origin}${path === '' ? '/v1' : path}`
}
