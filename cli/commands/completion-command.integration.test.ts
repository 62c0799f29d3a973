import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

const run = promisify(execFile)
const remora = fileURLToPath(new URL('../remora.mjs', import.meta.url))

/** By shell, what `remora completion SHELL` prints. */
const printed = new Map<string, string>()
beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    printed.set(shell, (await run(process.execPath, [remora, 'completion', shell])).stdout)
  }
})

let dir = ''
useFreshFolder((path) => (dir = path))
beforeEach(async () => {
  await mkdir(join(dir, 'shop'))
  await writeFile(join(dir, 'shelf.tar'), '')
})

function bashStart(): string[] {
  return [`remora() { '${process.execPath}' '${remora}' "$@"; }`, printed.get('bash') ?? '']
}

/** What bash offers at TAB after `line`, by the script `remora completion bash` prints; a word for each offer. */
async function tabAfter(line: string): Promise<string[]> {
  const words = line.split(' ')
  const script = [
    ...bashStart(),
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`,
    `COMP_LINE='${line}'; COMP_POINT=${line.length}`,
    `$(complete -p remora | sed 's/.*-F \\([^ ]*\\).*/\\1/') remora '${words.at(-1)}' '${words.at(-2)}' 2>/dev/null`,
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ]
  const { stdout } = await run('bash', ['-c', script.join('\n')], { cwd: dir })
  return stdout.split('\n').flatMap((offer) => /^\S+/.exec(offer)?.[0] ?? [])
}

/** Types `keys` into an interactive bash, and waits for its end. */
async function pressInBash(keys: readonly string[]): Promise<void> {
  const bash = spawn('bash', ['--norc', '--noprofile', '-i'], { cwd: dir, stdio: ['pipe', 'ignore', 'ignore'] })
  bash.stdin.end(`${bashStart().join('\n')}\n${keys.join('')}exit\n`)
  await once(bash, 'close')
}

describe('completion in bash', () => {
  const offers: [string, string[]][] = [
    ['remora re', ['reject', 'retry', 'review']],
    ['remora accept r1 --where v', ['verdict=accepted', 'verdict=pending', 'verdict=rejected']],
    ['remora run --err', ['--error-policy']],
    ['remora run --error-policy s', ['skip_downstream', 'stop_run']],
    [
      'remora run --agents ',
      ['docstring', 'harness', 'lint', 'researcher', 'review', 'sample_data', 'terminal', 'test'],
    ],
    ['remora submit --agents lint,d', ['lint,docstring']],
    ['remora run sh', ['shelf.tar', 'shop/']],
    ['remora run --out sho', ['shop/']],
    ['remora transcript --format ', ['json', 'markdown']],
    ['remora queries m', ['manifest']],
    ['remora tool run sh', ['shelf.tar', 'shop/']],
    ['remora tool run --workspace sho', ['shop/']],
    ['remora tool run --limits s', ['strict']],
  ]
  it('offers what the words may go on with', async () => {
    const offered = offers.map(async ([line]) => [line, (await tabAfter(line)).toSorted()])
    expect(await Promise.all(offered)).toEqual(offers)
  })

  it('runs nothing that the name of a file says', async () => {
    const names = [
      'a$(touch PWNED)b',
      'a`touch PWNED`b',
      'a;touch PWNED;',
      'a\n:x[$(touch PWNED)]',
      "a';touch PWNED;'",
      '-x',
    ]
    for (const name of names) await writeFile(join(dir, name), '')
    await writeFile(join(dir, 'apple'), '')
    expect(await tabAfter('remora run a')).toEqual(['apple'])
    expect(await tabAfter('remora run -')).not.toContain('-x')
    const typed = [
      'remora run a\t',
      'remora run a$(touch PWNED)\t',
      'remora run --out=`touch PWNED`=\t',
      '"$(touch PWNED)\t',
    ]
    await pressInBash(typed.flatMap((line) => [line, '\x15']))
    expect(await readdir(dir)).not.toContain('PWNED')
  })

  it('completes the last part of a word that bash takes apart', async () => {
    await writeFile(join(dir, 'a:bcd'), '')
    expect(await tabAfter('remora run a:b')).toEqual(['bcd'])
  })

  it('is not offered for a shell whose script would evaluate names', async () => {
    await expect(run(process.execPath, [remora, 'completion', 'powershell'])).rejects.toMatchObject({ code: 2 })
  })

  it.each(['bash', 'zsh', 'fish'])('has a script for %s that asks the command itself', (shell) => {
    expect(printed.get(shell)).toMatch(/remora complete '?--/)
  })
})
