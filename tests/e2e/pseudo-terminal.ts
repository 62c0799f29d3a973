import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { until } from '#testing/until.ts'
import { repository } from '../program.ts'

/** Runs a command in a pseudo-terminal of its own, and connects that to the pipes of this program. */
const relay = `
import fcntl, os, pty, select, struct, sys, termios
columns, rows, *command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', int(rows), int(columns), 0, 0))
    os.execvp(command[0], command)
sys.stderr.write(f'{pid}\\n')
sys.stderr.flush()
sources = [0, terminal]
while terminal in sources:
    for source in select.select(sources, [], [])[0]:
        try:
            data = os.read(source, 65536)
        except OSError:
            data = b''
        if not data:
            sources.remove(source)
        else:
            os.write(terminal if source == 0 else 1, data)
_, status = os.waitpid(pid, 0)
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
`

export type Terminal = {
  /** As if typed. */
  type(text: string): void
  /** Waits until the whole screen, as it was drawn last, has the text; resolves to that screen. */
  shows(text: string): Promise<string>
  /** All that was written to it. */
  out(): string
  kill(signal: NodeJS.Signals): void
  exited: Promise<number>
}

/** The terminals that one test file opens; each needs `python3`. */
export function openTerminals() {
  const running = new Set<ChildProcess>()
  return {
    /** `npx remora …` in a terminal, with nothing of this process's environment but the PATH. */
    remora(args: readonly string[], options: { cwd: string; env: Record<string, string>; columns?: number }): Terminal {
      const { cwd, env, columns = 80 } = options
      const command = [`${repository}node_modules/.bin/node`, `${repository}cli/remora.mjs`, ...args]
      const child = spawn('python3', ['-c', relay, String(columns), '24', ...command], {
        env: { PATH: process.env['PATH'], HOME: cwd, TERM: 'xterm-256color', ...env },
        cwd,
        stdio: 'pipe',
      })
      running.add(child)
      let out = ''
      let pid = ''
      child.stdout.setEncoding('utf8').on('data', (more: string) => (out += more))
      child.stderr.setEncoding('utf8').on('data', (more: string) => (pid += more))
      child.stdin.on('error', () => undefined)
      const exited = once(child, 'close').then(([code]: unknown[]) => {
        running.delete(child)
        return typeof code === 'number' ? code : -1
      })
      return {
        type: (text) => void child.stdin.write(text),
        async shows(text) {
          await until(
            () => {
              if (!running.has(child)) throw new Error(`it ended without "${text}": ${out}${pid}`)
              return screenIn(out)
            },
            { holds: (screen) => screen.includes(text), withinMs: 30_000 },
          ).catch((error: unknown) => {
            throw new Error(`the terminal does not show "${text}" but\n${screenIn(out)}`, { cause: error })
          })
          return screenIn(out)
        },
        out: () => out,
        kill: (signal) => void process.kill(Number(pid), signal),
        exited,
      }
    },
    async end(): Promise<void> {
      for (const child of running) {
        child.kill('SIGKILL')
        await once(child, 'close')
      }
    },
  }
}

const toLine = '\u001B['

/** What the last drawing of a whole screen has put there. */
function screenIn(out: string): string {
  const [, ...lines] = out.slice(Math.max(0, out.lastIndexOf(`${toLine}1;1H`))).split(toLine)
  const text = lines.map((part) => part.replace(/^\d+;1H/, '\n').replace(/^[\d;?]*[A-Za-z]/, ''))
  return text.join('').trim()
}
