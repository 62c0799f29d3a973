import type { Outgoing } from './connection.ts'

/** A tar, tar.gz or zip. One that is iterated must be readable several times; it is never whole in memory. */
export type Archive = Blob | AsyncIterable<Uint8Array>

/** Makes the form of a submission: `request` comes first, as the API requires, then the archive. */
export function submissionForm(request: object, archive: Archive): Outgoing {
  if (archive instanceof Blob) {
    // Not a Blob made of others: in Bun it lacks those that are files.
    const form = new FormData()
    form.set('request', JSON.stringify(request))
    form.set('archive', archive, 'archive')
    return { method: 'POST', body: () => form }
  }
  const boundary = `remora-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`
  const part = (disposition: string, type: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\ncontent-type: ${type}\r\n\r\n`
  const head = `${part('name="request"', 'application/json')}${JSON.stringify(request)}\r\n${part('name="archive"; filename="archive"', 'application/octet-stream')}`
  const tail = `\r\n--${boundary}--\r\n`
  return {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: () => streamOf(joined(head, archive, tail)),
  }
}

async function* joined(head: string, archive: AsyncIterable<Uint8Array>, tail: string): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode(head)
  yield* archive
  yield encoder.encode(tail)
}

/** Not every browser has `ReadableStream.from`. */
function streamOf(parts: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}
