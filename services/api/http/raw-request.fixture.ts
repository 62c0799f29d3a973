import { connect, type Socket } from 'node:net'

export type RawAnswer = { status: number; headers: Record<string, string>; body: string }

export function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {}) // a server that cuts us off is what these tests are about
  return socket
}

/** Sends bytes as they are and answers what came back until the server ended the connection. */
export async function rawRequest(url: string, bytes: string): Promise<RawAnswer> {
  const socket = openSocket(url)
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString()))
  socket.write(bytes)
  await new Promise((resolve) => socket.once('close', resolve)) // a reset is an end, too
  return parseAnswer(text)
}

/** The first answer in `text`; status 0 when there is none. */
export function parseAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line) => {
    const at = line.indexOf(':')
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const
  })
  return { status: Number(first.split(' ')[1] ?? 0), headers: Object.fromEntries(headers), body: rest.join('\r\n\r\n') }
}
