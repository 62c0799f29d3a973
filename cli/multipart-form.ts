import { randomUUID } from 'node:crypto'

export type MultipartForm = { headers: { 'content-type': string }; body: AsyncIterable<Uint8Array> }

/** A `multipart/form-data` body that is never whole in memory: `request` first, as the API wants it, then the archive. */
export function multipartForm(fields: { request: string; archive: AsyncIterable<Uint8Array> }): MultipartForm {
  const boundary = `remora-${randomUUID()}`
  const part = (disposition: string, type: string) =>
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\ncontent-type: ${type}\r\n\r\n`)
  async function* body() {
    yield part('name="request"', 'application/json')
    yield Buffer.from(`${fields.request}\r\n`)
    yield part('name="archive"; filename="archive"', 'application/octet-stream')
    yield* fields.archive
    yield Buffer.from(`\r\n--${boundary}--\r\n`)
  }
  return { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, body: body() }
}
