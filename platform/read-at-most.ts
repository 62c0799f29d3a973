/**
 * Reads a body until it ends or has more than `maxBytes`; what comes after that is not fetched. A result of more than `maxBytes` is the
 * beginning of a text that is too large.
 */
export async function readAtMost(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > maxBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxBytes + 1)
}
