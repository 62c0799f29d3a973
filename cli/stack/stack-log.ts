import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { openLog, type Log, type LogLevel } from '#platform/log.ts'
import { dataNotWritable } from './data-folder.ts'

export type StackLog = {
  level: LogLevel
  entry: Log
  /** Raw lines of a child process. */
  write(text: string): void
  close(): Promise<void>
}

/**
 * The log of an embedded stack and its children: the file at `path`, in a folder that is there, written anew, or stderr
 * when there is none. CONFIG_003 when it cannot be written.
 */
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
  const file = createWriteStream(path)
  await once(file, 'open').catch((error: unknown) => {
    throw dataNotWritable(path, error)
  })
  file.on('error', () => {}) // a full disk costs the log its lines, not the stack its life
  return {
    write: (text: string) => void file.write(text),
    async close() {
      if (file.closed) return
      file.end()
      await once(file, 'close')
    },
  }
}
