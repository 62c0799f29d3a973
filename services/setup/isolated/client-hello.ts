/*
 * The first message of a TLS client, as RFC 8446 (4.1.2, 5.1) and RFC 6066 (3) write it. It is read strictly: of what two readers might
 * understand in two ways, nothing is accepted.
 */

/** `bytes`: of the stream, up to the end of the record in which the message ends. `serverName`: undefined where it names none. */
export type ClientHello = { kind: 'hello'; serverName: string | undefined; bytes: number }

/** `more`: what there is may be the beginning of one. `reason` completes a sentence that begins with "the client". */
export type HelloReading = ClientHello | { kind: 'more' } | { kind: 'none'; reason: string }

/** Exceeds what browsers and package managers send: 200 to 4,000 bytes. */
const maxHelloBytes = 16_384

const changeCipherSpec = Buffer.from([20, 3, 3, 0, 1, 1])
const recordHeader = 5
const messageHeader = 4
const maxFragmentBytes = 16_384
const handshake = 22
const clientHello = 1

/** Reads what a client has sent first. Before the second one (`isRetry`) there may be a record that says nothing. */
export function readClientHello(stream: Buffer, { isRetry = false } = {}): HelloReading {
  const { length } = changeCipherSpec
  const start = isRetry && stream.subarray(0, length).equals(changeCipherSpec) ? length : 0
  const message = messageIn(stream, start)
  if (message.kind !== 'message') return message
  try {
    return { kind: 'hello', serverName: serverNameIn(message.body), bytes: message.end }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { kind: 'none', reason: error.message }
  }
}

type Message = { kind: 'message'; body: Buffer; end: number } | Exclude<HelloReading, ClientHello>

function messageIn(stream: Buffer, start: number): Message {
  const fragments: Buffer[] = []
  let have = 0
  let wanted: number | undefined
  for (let at = start; ;) {
    const [type = handshake, major = 3] = stream.subarray(at)
    if (type !== handshake || major !== 3) return { kind: 'none', reason: 'does not begin with TLS' }
    if (at + recordHeader > stream.length) return unlessTooLong(stream)
    const length = stream.readUInt16BE(at + 3)
    if (length === 0 || length > maxFragmentBytes) return { kind: 'none', reason: 'sends a record of a wrong length' }
    const end = at + recordHeader + length
    fragments.push(stream.subarray(at + recordHeader, end))
    have += fragments.at(-1)?.length ?? 0
    if (wanted === undefined && have >= messageHeader) {
      const head = Buffer.concat(fragments)
      if (head[0] !== clientHello) return { kind: 'none', reason: 'does not begin with a ClientHello' }
      wanted = messageHeader + head.readUIntBE(1, 3)
    }
    if (wanted !== undefined && wanted > maxHelloBytes) return tooLong
    if (wanted !== undefined && have > wanted) return { kind: 'none', reason: 'sends more than a ClientHello at first' }
    if (end > stream.length) return unlessTooLong(stream)
    if (have === wanted) return { kind: 'message', body: Buffer.concat(fragments).subarray(messageHeader), end }
    at = end
  }
}

const tooLong = { kind: 'none', reason: 'sends a ClientHello that is too long' } as const

/** Records of one byte each make a message six times as long. */
function unlessTooLong(stream: Buffer): Message {
  return stream.length <= maxHelloBytes ? { kind: 'more' } : tooLong
}

const ofServerName = 0
/** Marks Encrypted Client Hello and its drafts: the name that counts is not the one that can be read. */
const hidingNames = new Set([0xfe_0d, 0xff_ce, 0xff_02, 0xff_03])

/** Throws a RangeError where anything is not as long as it says, or is there twice. */
function serverNameIn(body: Buffer): string | undefined {
  const { rest: afterRandom } = cut(body, 2 + 32)
  const { rest: afterSession } = vector(afterRandom, 1)
  const { rest: afterCiphers } = vector(afterSession, 2)
  const { rest: afterCompression } = vector(afterCiphers, 1)
  if (afterCompression.length === 0) return undefined
  const listed = vector(afterCompression, 2)
  let extensions = listed.part
  if (listed.rest.length > 0) throw new RangeError('sends a ClientHello with an end that belongs to nothing')
  const seen = new Set<number>()
  let name: string | undefined
  while (extensions.length > 0) {
    const head = cut(extensions, 2)
    const id = head.part.readUInt16BE()
    const { part: data, rest: others } = vector(head.rest, 2)
    if (seen.has(id)) throw new RangeError('sends a ClientHello that says something twice')
    if (hidingNames.has(id)) throw new RangeError('encrypts the name that it asks for')
    seen.add(id)
    if (id === ofServerName) name = onlyName(data)
    extensions = others
  }
  return name
}

function onlyName(data: Buffer): string {
  const { part: list, rest } = vector(data, 2)
  const { part: kind, rest: named } = cut(list, 1)
  const { part: name, rest: others } = vector(named, 2)
  const text = name.toString('latin1')
  if (rest.length + others.length > 0 || kind[0] !== 0 || !/^[\x21-\x7e]+$/.test(text)) {
    throw new RangeError('sends a ClientHello with more or less than one name')
  }
  return text
}

function vector(from: Buffer, bytes: 1 | 2): { part: Buffer; rest: Buffer } {
  const { part: length, rest } = cut(from, bytes)
  return cut(rest, length.readUIntBE(0, bytes))
}

function cut(from: Buffer, length: number): { part: Buffer; rest: Buffer } {
  if (length > from.length) throw new RangeError('sends a ClientHello that ends too early')
  return { part: from.subarray(0, length), rest: from.subarray(length) }
}

/** The random of a ServerHello that asks for another ClientHello: the SHA-256 of "HelloRetryRequest". */
const retryRandom = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex')
const beforeRandom = recordHeader + messageHeader + 2

/** Tells whether a server asks for a second ClientHello; undefined while that cannot be told. */
export function asksForAnother(stream: Buffer): boolean | undefined {
  if (stream.length > 0 && stream[0] !== handshake) return false
  if (stream.length < beforeRandom + retryRandom.length) return undefined
  return stream.subarray(beforeRandom, beforeRandom + retryRandom.length).equals(retryRandom)
}
