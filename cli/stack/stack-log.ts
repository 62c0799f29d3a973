import { createWriteStream } from 'node:fs'
import { rename } from 'node:fs/promises'
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
 * The log of an embedded stack and its children: the file at `path`, in a folder that is there, or stderr when there is
 * none. A file that is there is kept beside it as `.1`, or with `append` gone on with. CONFIG_003 when it cannot be
 * written.
 */
export async function openStackLog(options: {
  path: string | undefined
  append: boolean
  level: LogLevel
  secrets: readonly string[]
}): Promise<StackLog> {
  const { path, append, level, secrets } = options
  const sink = path === undefined ? stderrSink() : await fileSink(path, append)
  return { level, entry: openLog({ service: 'stack', level, secrets, write: sink.write }), ...sink }
}

function stderrSink() {
  return { write: (text: string) => void process.stderr.write(text), close: async () => {} }
}

async function fileSink(path: string, append: boolean) {
  if (!append) await rename(path, `${path}.1`).catch(() => undefined)
  const file = createWriteStream(path, { flags: 'a' })
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
