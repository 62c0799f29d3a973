import { spawn } from 'node:child_process'
import { readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after } from '#platform/clock.ts'
import { findProgram } from '#platform/run-program.ts'

type Gofmt = { path: string; version: string }

/** Lines and columns are 1-based, columns in bytes. */
type SyntaxFault = { line: number; column: number; message: string }

export type GofmtAnswer =
  | { kind: 'formatted'; text: string }
  | { kind: 'broken'; faults: SyntaxFault[] }
  /** gofmt ended otherwise, or was ended; the next text is not affected. */
  | { kind: 'lost'; why: string }

export type FormatQuestion = { text: string; isSimplified: boolean }

/** Finds the gofmt of the search path, or else the one beside `go`. */
export async function findGofmt(searchPath: string): Promise<Gofmt | undefined> {
  const path = (await findProgram('gofmt', searchPath)) ?? (await besideGo(searchPath))
  return path === undefined ? undefined : { path, version: await versionOf(path) }
}

async function besideGo(searchPath: string): Promise<string | undefined> {
  const go = await findProgram('go', searchPath)
  return go === undefined ? undefined : findProgram('gofmt', dirname(await realpath(go)))
}

/** gofmt cannot say its version; Go's own folder has it in a file. */
async function versionOf(path: string): Promise<string> {
  const file = join(dirname(await realpath(path)), '..', 'VERSION')
  const [version = ''] = (await readFile(file, 'utf8').catch(() => '')).split('\n')
  return /^go[\w.-]{1,40}$/.test(version) ? `gofmt ${version}` : 'gofmt'
}

/** gofmt indents, so nested blocks cost the square of their depth: 99,000 of them took 7.7 GB. Of these, 1.2 GB are only reserved. */
const maxAddressKiB = 2_200_000
const maxCpuSeconds = 30
/** A limit that the system does not have is left out. */
const limited = `ulimit -v ${maxAddressKiB} 2>/dev/null; ulimit -t ${maxCpuSeconds} 2>/dev/null; exec "$0" "$@"`
/** Names no home, so that gofmt keeps no telemetry either. */
const environment = { GOMAXPROCS: '1' }

const maxErrorChars = 8_000
const maxFaults = 20

/** Formats a text by a process of its own, which gets nothing of our environment and reads no file. */
export async function runGofmt(
  { path }: Pick<Gofmt, 'path'>,
  { text, isSimplified }: FormatQuestion,
  { limitMs, signal }: { limitMs: number; signal: AbortSignal },
): Promise<GofmtAnswer> {
  const { promise: ending, resolve } = Promise.withResolvers<GofmtAnswer>()
  const args = ['-c', limited, path, ...(isSimplified ? ['-s'] : [])]
  const child = spawn('/bin/sh', args, { cwd: '/', env: environment, stdio: 'pipe' })
  const lose = (why: string) => {
    resolve({ kind: 'lost', why })
    child.kill('SIGKILL')
  }
  const maxBytes = 4 * Buffer.byteLength(text) + 1_000_000
  const parts: Buffer[] = []
  let bytes = 0
  let errors = ''
  child.stdout.on('data', (part: Buffer) => {
    parts.push(part)
    bytes += part.length
    if (bytes > maxBytes) lose('gofmt makes it too long')
  })
  child.stderr.setEncoding('utf8').on('data', (words: string) => (errors = (errors + words).slice(0, maxErrorChars)))
  child.stdin.on('error', () => undefined) // it ended before it had read all; how, its exit says
  child.on('error', (error) => lose(error.message))
  child.on('close', (code, killed) => {
    if (code === 0) resolve({ kind: 'formatted', text: Buffer.concat(parts).toString() })
    else resolve(failureOf(errors, killed === null ? `exit code ${code}` : `ended by ${killed}`))
  })
  child.stdin.end(text)
  const abort = () => lose('the linter is closed')
  const cancel = after(limitMs, () => lose('it took too long'))
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await ending
  } finally {
    cancel()
    signal.removeEventListener('abort', abort)
  }
}

/** A text that does not parse has a line for each fault, with the file's name where a `//line` in it gives another. */
function failureOf(errors: string, otherwise: string): GofmtAnswer {
  const lines = errors.matchAll(/^\S.*?:(\d+)(?::(\d+))?: (.+)$/gm)
  const faults = Array.from(lines, ([, line, column = '1', message = '']): SyntaxFault => {
    return { line: Number(line), column: Number(column), message }
  })
  if (faults.length > 0) return { kind: 'broken', faults: faults.slice(0, maxFaults) }
  const [first = ''] = errors.split('\n')
  return { kind: 'lost', why: `gofmt failed: ${first.slice(0, 200) || otherwise}` }
}
