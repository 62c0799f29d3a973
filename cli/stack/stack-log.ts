import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { openLog, type Log, type LogLevel } from '#platform/log.ts'

export type StackLog = {
  level: LogLevel
  entry: Log
  /** Raw lines of a child process. */
  write(text: string): void
  close(): Promise<void>
}

/** The log of an embedded stack and its children: the file at `path`, written anew, or stderr when there is none. */
export async function openStackLog(options: {
  path: string | undefined
  level: LogLevel
  secrets: readonly string[]
}): Promise<StackLog> {
  const { path, level, secrets } = options
  const sink = path === undefined ? stderrSink() : await fileSink(path)
  return { level, entry: openLog({ service: 'stack', level, secrets, write: sink.write }), ...sink }
}

function stderrSink() {
  return { write: (text: string) => void process.stderr.write(text), close: async () => {} }
}

async function fileSink(path: string) {
  await mkdir(dirname(path), { recursive: true })
  const file = createWriteStream(path)
  await once(file, 'open')
  return {
    write: (text: string) => void file.write(text),
    async close() {
      file.end()
      await once(file, 'close')
    },
  }
}
