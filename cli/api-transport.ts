import { Readable } from 'node:stream'

export type Outgoing = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  headers?: Record<string, string>
  /** A function makes it anew for each time that it is sent. */
  body?: (() => Readable) | string
}

export type Answer = {
  status: number
  header(name: string): string | undefined
  /** The body is read once, in one of these ways. */
  body: AsyncIterable<Uint8Array>
  text(): Promise<string>
  dump(): Promise<void>
}

export type Transport = {
  send(url: string, outgoing: Outgoing, signal: AbortSignal): Promise<Answer>
  close(): Promise<void>
}

/** Sends over HTTP, whose client is loaded for the first request. */
export function openHttpTransport(): Transport {
  const client = { close: async () => {} }
  const open = async () => {
    const { Agent, request } = await import('undici')
    const agent = new Agent()
    client.close = () => agent.destroy()
    return { agent, request }
  }
  let opening: ReturnType<typeof open> | undefined
  return {
    async send(url, { method, headers = {}, body }, signal) {
      const { agent, request } = await (opening ??= open())
      const sent = typeof body === 'function' ? body() : body
      const options = { method, headers, dispatcher: agent, signal, ...(sent !== undefined && { body: sent }) }
      const { statusCode: status, headers: answered, body: got } = await request(url, options)
      const header = (name: string) => answered[name]?.toString()
      return { status, header, body: got, text: () => got.text(), dump: () => got.dump() }
    },
    close: () => client.close(),
  }
}

/** Asks a service in this process, which takes requests as `fetch` does. */
export function openLocalTransport(answer: (request: Request) => Response | Promise<Response>): Transport {
  return {
    async send(url, { method, headers = {}, body }, signal) {
      const sent = typeof body === 'function' ? Readable.toWeb(body()) : body
      const stream = typeof body === 'function' ? { duplex: 'half' as const } : {}
      const request = new Request(url, {
        method,
        headers,
        signal,
        ...stream,
        ...(sent !== undefined && { body: sent }),
      })
      const response = await answer(request)
      const header = (name: string) => response.headers.get(name) ?? undefined
      const read = response.body ?? Readable.toWeb(Readable.from([]))
      const dump = async () => {
        await response.body?.cancel()
      }
      return { status: response.status, header, body: read, text: () => response.text(), dump }
    },
    close: async () => {},
  }
}
