import { openBell } from '#platform/bell.ts'
import { Frame } from '#schemas/frame-schema.ts'

export type FrameReader = {
  /** Whole frames as they arrive, each as its schema says. */
  frames(): AsyncGenerator<Frame>
  /** Everything of a stream that has arrived, frame or not. */
  text(): string
  leave(): void
}

export type OpenedStream = FrameReader & { status: number; contentType: string | null }

/** Reads Server-Sent Events as a browser's EventSource does. */
export async function openFrames(url: string, headers: Readonly<Record<string, string>> = {}): Promise<OpenedStream> {
  const leaving = new AbortController()
  const answer = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: leaving.signal })
  let text = ''
  async function* frames(): AsyncGenerator<Frame> {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of answer.body ?? []) {
      const more = decoder.decode(chunk, { stream: true })
      text += more
      const blocks = `${rest}${more}`.split('\n\n')
      rest = blocks.pop() ?? ''
      for (const frame of blocks.map(readFrame)) if (frame !== undefined) yield frame
    }
  }
  return {
    status: answer.status,
    contentType: answer.headers.get('content-type'),
    frames,
    text: () => text,
    leave: () => leaving.abort(),
  }
}

export type OpenedSocket = FrameReader & {
  protocol: string
  send(frame: string | Uint8Array<ArrayBuffer>): void
  /** Resolves to the code that it was closed with. */
  closed: Promise<number>
}

/** Reads the frames of a WebSocket as a browser does. `protocols` are those that it offers. */
export async function openWebSocket(url: string, protocols: readonly string[] = []): Promise<OpenedSocket> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), [...protocols])
  const arrived: Frame[] = []
  const bell = openBell()
  let code: number | undefined
  socket.addEventListener('message', ({ data }) => {
    arrived.push(Frame.parse(JSON.parse(String(data))))
    bell.ring()
  })
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener('close', (event) => {
      resolve((code = event.code))
      bell.ring()
    })
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error('the WebSocket was refused')))
  })
  async function* frames(): AsyncGenerator<Frame> {
    for (;;) {
      const frame = arrived.shift()
      if (frame !== undefined) yield frame
      else if (code !== undefined) return
      else await bell.rung()
    }
  }
  const { protocol } = socket
  return { protocol, frames, text: () => '', send: (frame) => socket.send(frame), closed, leave: () => socket.close() }
}

/** The connections that give the same frames. */
export const wires: Readonly<Record<string, (url: string) => Promise<FrameReader>>> = {
  stream: openFrames,
  WebSocket: openWebSocket,
}

/** The request for a WebSocket as it is sent, for clients that do not behave. */
export function handshakeOf(url: string, headers: Readonly<Record<string, string>> = {}): string {
  const { host, pathname, search } = new URL(url)
  const fields = {
    host,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    ...headers,
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** Returns undefined for a comment. */
function readFrame(block: string): Frame | undefined {
  const fields = new Map(block.split('\n').map((line) => [line.split(': ', 1)[0] ?? '', line.replace(/^[^:]*: /, '')]))
  const [id, type, data] = [fields.get('id'), fields.get('event'), fields.get('data')]
  if (data === undefined) return undefined
  const value: unknown = JSON.parse(data)
  return Frame.parse(type === undefined ? { type: 'event', id, event: value } : { type, ...Object(value) })
}

/** The numbers of the events among frames. */
export function numbersOf(frames: readonly Frame[]): number[] {
  return frames.flatMap((frame) => (frame.type === 'event' ? [frame.event.seq] : []))
}

/** Reads an answer; of a stream, what was there when it began, since that of all runs has no end. */
export async function textOf({ body }: Response): Promise<string> {
  let text = ''
  for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part
    const missed = /^event: connected\ndata: .*"missed":(\d+)/m.exec(text)?.[1]
    if (missed !== undefined && text.split('\n\n').length > Number(missed) + 1) break
  }
  return text
}
