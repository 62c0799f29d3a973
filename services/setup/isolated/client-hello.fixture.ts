import { Duplex } from 'node:stream'
import { connect, type ConnectionOptions } from 'node:tls'

/** The first bytes that Node's own TLS sends, all of a ClientHello in one record. */
export async function helloOf(options: ConnectionOptions): Promise<Buffer> {
  const sent = Promise.withResolvers<Buffer>()
  const wire = new Duplex({ read() {}, write: (chunk: Buffer) => sent.resolve(chunk) })
  const client = connect({ ...options, socket: wire })
  client.on('error', () => {})
  const hello = await sent.promise
  client.destroy()
  return hello
}

/** The same message in records of so many bytes. */
export function inRecords(hello: Buffer, bytes: number): Buffer {
  const message = hello.subarray(5)
  const parts = Array.from({ length: Math.ceil(message.length / bytes) }, (_, at) => {
    const part = message.subarray(at * bytes, (at + 1) * bytes)
    return [Buffer.from([22, 3, 1, 0, part.length]), part]
  })
  return Buffer.concat(parts.flat())
}

/** The same message with one more extension at its end. */
export function withExtension(hello: Buffer, id: number, data: Buffer): Buffer {
  const more = Buffer.alloc(4)
  more.writeUInt16BE(id)
  more.writeUInt16BE(data.length, 2)
  const made = Buffer.concat([hello, more, data])
  const added = more.length + data.length
  const beforeSession = 5 + 4 + 2 + 32
  const ciphers = beforeSession + 1 + (made[beforeSession] ?? 0)
  const compression = ciphers + 2 + made.readUInt16BE(ciphers)
  const extensions = compression + 1 + (made[compression] ?? 0)
  for (const place of [3, 7, extensions]) made.writeUInt16BE(made.readUInt16BE(place) + added, place)
  return made
}
