import { spawn } from 'node:child_process'
import { AppError } from '#domain/error.ts'
import { gitSettings } from '#platform/git-settings.ts'

const lineFeed = 10

type Waiting = { resolve(content: Uint8Array): void; reject(reason: unknown): void }

/**
 * Contents from one `git cat-file --batch` that runs until `close`, so that a thousand files cost no thousand processes.
 * Read many at once: answers come in the order asked. DISC_005 for a name git has no content of; any other end of git
 * fails what is still waited for with it too.
 */
export function openBlobs(folder: string, signal: AbortSignal) {
  const git = spawn('git', [...gitSettings, 'cat-file', '--batch'], {
    cwd: folder,
    signal,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const waiting: Waiting[] = []
  let ended = false
  const end = () => {
    ended = true
    for (const { reject } of waiting.splice(0)) reject(signal.aborted ? signal.reason : unreadable())
  }
  git.once('error', end).once('close', end)
  git.stdin.on('error', end)
  void answerAll(git.stdout, waiting).catch(end)
  const read = (hash: string) => {
    if (ended) return Promise.reject(unreadable())
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
    waiting.push({ resolve, reject })
    git.stdin.write(`${hash}\n`)
    return promise
  }
  return { read, close: () => void git.stdin.end() }
}

/** Each answer is `<name> blob <size>`, a line feed, so many bytes and a line feed; or `<name> missing`. */
async function answerAll(answers: AsyncIterable<Buffer>, waiting: Waiting[]): Promise<void> {
  const source = answers[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const more = async (): Promise<boolean> => {
    const { done, value } = await source.next()
    if (done !== true) held = Buffer.concat([held, value])
    return done !== true
  }
  const take = async (length: number): Promise<Buffer> => {
    const parts = [held]
    let size = held.length
    while (size < length) {
      const { done, value } = await source.next()
      if (done === true) throw unreadable()
      parts.push(value)
      size += value.length
    }
    const all = parts.length === 1 ? held : Buffer.concat(parts)
    held = all.subarray(length)
    return all.subarray(0, length)
  }
  for (;;) {
    while (!held.includes(lineFeed)) if (!(await more())) return
    const header = (await take(held.indexOf(lineFeed) + 1)).toString()
    const [, size] = / blob (\d+)\n$/.exec(header) ?? []
    // It is waited for until its content is whole: an end before that fails it with the others.
    const content = size === undefined ? undefined : (await take(Number(size) + 1)).subarray(0, -1)
    const asked = waiting.shift()
    if (content === undefined) asked?.reject(unreadable())
    else asked?.resolve(content)
  }
}

function unreadable(): AppError {
  return new AppError('DISC_005', 'git cannot read the file', { phase: 'discovery' })
}
