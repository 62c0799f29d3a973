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
