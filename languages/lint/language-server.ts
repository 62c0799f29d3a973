import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { killGroup } from '#platform/run-program.ts'

const Position = z.object({ line: z.int(), character: z.int() })
type Position = z.infer<typeof Position>
/** Counts from 0, characters in UTF-16 units. */
export const TextRange = z.object({ start: Position, end: Position })

/** Returns the index of a position in a text. LF, CRLF and a lone CR end a line. */
export function indexIn(text: string): (at: Position) => number {
  const starts = [0, ...Array.from(text.matchAll(/\r\n|\n|\r/g), (end) => end.index + end[0].length)]
  return ({ line, character }) => Math.min((starts[line] ?? text.length) + character, text.length)
}

const Message = z.object({
  id: z.union([z.number(), z.string()]).nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
})
type Message = z.infer<typeof Message>

export type LanguageServer = {
  /** Rejects when the process ends first, or answers with an error. */
  request(method: string, params: unknown): Promise<unknown>
  notify(method: string, params: unknown): void
  kill(): void
}

type ProcessEvents = {
  onNotice(method: string, params: unknown): void
  onExit(reason: string): void
}

/** It lints one text at a time, so threads would only cost memory. */
const environment = { RAYON_NUM_THREADS: '1', TOKIO_WORKER_THREADS: '1', PATH: '/usr/bin:/bin' }
/** Bounds the memory where the system can, and removes the folder however the program ends, also when this process is killed. */
const inFolder =
  '[ -z "$MEMORY" ] || ulimit -v "$MEMORY" 2>/dev/null; "$0" "$@"; code=$?; rm -rf -- "$FOLDER" 2>/dev/null; exit "$code"'
const maxMessageBytes = 128 * 2 ** 20
const maxLastWords = 500

type Starting = {
  command: readonly string[]
  /** The program's own folder, which goes with it. */
  folder: string
  maxMemoryKiB?: number
}

/**
 * Starts a linter as a language server, the only form in which it lints texts that are in no file, and tells which edits fix a
 * fault. It gets nothing of our environment, and ends by itself when this process does, since its input then ends.
 */
export function startLanguageServer(starting: Starting, events: ProcessEvents): LanguageServer {
  const child = spawnIn(starting)
  const kill = () => void (child.pid !== undefined && killGroup(child.pid, 'SIGKILL'))
  const open = new Map<number, PromiseWithResolvers<unknown>>()
  let asked = 0
  let exited = false
  let lastWords = ''
  const exit = (reason: string) => {
    if (exited) return
    exited = true
    for (const { reject } of open.values()) reject(new Error(reason))
    events.onExit(`${reason} ${lastWords}`.trim())
  }
  const send = (message: object) => {
    if (exited) return
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    if (child.stdin.writableCorked === 0) {
      child.stdin.cork() // what is sent in one tick is one write
      process.nextTick(() => child.stdin.uncork())
    }
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }
  child.stdin.on('error', kill)
  child.stderr.setEncoding('utf8').on('data', (text: string) => (lastWords = (lastWords + text).slice(-maxLastWords)))
  child.on('error', (error) => exit(error.message))
  child.on('close', (code, signal) => exit(signal === null ? `exit code ${code}` : `ended by ${signal}`))
  readMessages(child.stdout, kill, ({ id, method, params, result, error }) => {
    if (method !== undefined) {
      if (id === undefined || id === null) events.onNotice(method, params)
      else send({ id, result: null })
      return
    }
    const asker = typeof id === 'number' ? open.get(id) : undefined
    if (typeof id === 'number') open.delete(id)
    if (error === undefined) asker?.resolve(result)
    else asker?.reject(new Error(`it refused: ${JSON.stringify(error).slice(0, maxLastWords)}`))
  })
  return {
    request(method, params) {
      if (exited) return Promise.reject(new Error('it has ended'))
      const asker = Promise.withResolvers<unknown>()
      open.set(++asked, asker)
      send({ id: asked, method, params })
      return asker.promise
    },
    notify: (method, params) => send({ method, params }),
    kill,
  }
}

function spawnIn({ command, folder, maxMemoryKiB }: Starting) {
  return spawn('/bin/sh', ['-c', inFolder, ...command], {
    cwd: folder,
    env: { ...environment, FOLDER: folder, MEMORY: String(maxMemoryKiB ?? ''), HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: 'pipe',
    detached: true,
  })
}

/** Splits the output into messages. A message that is too long, or is none, ends the process. */
function readMessages(output: Readable, kill: () => void, onMessage: (message: Message) => void): void {
  let parts: Buffer[] = []
  let held = 0
  let wanted = 0
  output.on('data', (bytes: Buffer) => {
    parts.push(bytes)
    held += bytes.length
    if (held < wanted) return
    let buffer = Buffer.concat(parts)
    for (;;) {
      const end = buffer.indexOf('\r\n\r\n')
      if (end < 0) break
      const length = Number(/Content-Length: *(\d+)/i.exec(buffer.toString('latin1', 0, end))?.[1])
      if (!(length <= maxMessageBytes)) return kill()
      wanted = end + 4 + length
      if (buffer.length < wanted) break
      const message = Message.safeParse(parseJson(buffer.toString('utf8', end + 4, wanted)))
      if (!message.success) return kill()
      buffer = buffer.subarray(wanted)
      wanted = 0
      onMessage(message.data)
    }
    parts = [buffer]
    held = buffer.length
  })
}
