import { constants, open, rename } from 'node:fs/promises'
import { openLog, type Log, type Logging, type LogLevel } from '#platform/log.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { endFile } from '../run/output-file.ts'
import { dataNotWritable } from './data-folder.ts'

export type StackLog = {
  level: LogLevel
  entry: Log
  write(text: string): void
  close(): Promise<void>
}

/** Opens the log: `path`, or stderr. An existing file is renamed to `.1` unless `append`. CONFIG_003 when it cannot be written. */
export async function openStackLog(
  options: Logging & { path: string | undefined; append: boolean; redactor?: Redactor },
): Promise<StackLog> {
  const { path, append, level, format, redactor } = options
  const sink = path === undefined ? stderrSink() : await fileSink(path, append)
  return {
    level,
    entry: openLog({ service: 'stack', level, format, write: sink.write, ...(redactor && { redactor }) }),
    ...sink,
  }
}

function stderrSink() {
  return { write: (text: string) => void process.stderr.write(text), close: async () => {} }
}

const ownerOnly = 0o600

async function fileSink(path: string, append: boolean) {
  if (!append) await rename(path, `${path}.1`).catch(() => undefined)
  const file = await openPrivate(path)
  file.on('error', () => {}) // on a full disk the log loses lines, and the stack goes on
  return {
    write: (text: string) => void file.write(text),
    close: () => endFile(file),
  }
}

/** Follows no link and waits for no pipe. An existing log is closed to others, like a new one. */
async function openPrivate(path: string) {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants
  try {
    const file = await open(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_WRONLY, ownerOnly)
    await file.chmod(ownerOnly)
    return file.createWriteStream()
  } catch (error) {
    throw dataNotWritable(path, error)
  }
}
