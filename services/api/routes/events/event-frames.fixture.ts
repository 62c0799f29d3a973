export type Frame = { id: number | undefined; event: string | undefined; data: unknown }

export type FrameStream = {
  status: number
  contentType: string | null
  /** Whole frames as they arrive; comments and fields without data are left out. */
  frames(): AsyncGenerator<Frame>
  /** Everything that has arrived, frame or not. */
  text(): string
  leave(): void
}

/** Reads Server-Sent Events as a browser's EventSource does. */
export async function openFrames(url: string, headers: Readonly<Record<string, string>> = {}): Promise<FrameStream> {
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
      for (const frame of blocks.map(readFrame)) if (frame.data !== undefined) yield frame
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

function readFrame(block: string): Frame {
  const fields = new Map(block.split('\n').map((line) => [line.split(': ', 1)[0] ?? '', line.replace(/^[^:]*: /, '')]))
  const [id, data] = [fields.get('id'), fields.get('data')]
  return {
    id: id === undefined ? undefined : Number(id),
    event: fields.get('event'),
    data: data === undefined ? undefined : JSON.parse(data),
  }
}
