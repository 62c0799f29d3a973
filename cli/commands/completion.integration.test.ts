import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const remora = fileURLToPath(new URL('../remora.mjs', import.meta.url))

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-completion-'))
  await mkdir(join(dir, 'shop'))
  await writeFile(join(dir, 'shelf.tar'), '')
})
afterEach(async () => {
  await rm(dir, { recursive: true, force: true })
})

/** What bash offers at TAB after `line`, by the script `remora completion bash` prints; a word for each offer. */
async function tabAfter(line: string): Promise<string[]> {
  const words = line.split(' ')
  const script = [
    `remora() { '${process.execPath}' '${remora}' "$@"; }`,
    'source <(remora completion bash)',
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`,
    `COMP_LINE='${line}'; COMP_POINT=${line.length}`,
    `$(complete -p remora | sed 's/.*-F \\([^ ]*\\).*/\\1/') remora '${words.at(-1)}' '${words.at(-2)}' 2>/dev/null`,
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ]
  const { stdout } = await run('bash', ['-c', script.join('\n')], { cwd: dir })
  return stdout.split('\n').flatMap((offer) => /^\S+/.exec(offer)?.[0] ?? [])
}

describe('completion in bash', () => {
  it.each([
    ['remora re', ['retry']],
    ['remora run --err', ['--error-policy']],
    ['remora run --error-policy s', ['skip_downstream', 'stop_run']],
    ['remora run --agents ', ['docstring', 'lint']],
    ['remora submit --agents lint,d', ['lint,docstring']],
    ['remora run sh', ['shelf.tar', 'shop/']],
    ['remora run --out sho', ['shop/']],
    ['remora queries m', ['manifest']],
  ])('offers after "%s"', async (line, offers) => {
    expect((await tabAfter(line)).toSorted()).toEqual(offers)
  })

  it.each(['bash', 'zsh', 'fish', 'powershell'])('has a script for %s that asks the command itself', async (shell) => {
    const { stdout } = await run(process.execPath, [remora, 'completion', shell])
    expect(stdout).toMatch(/remora complete '?--/)
  })
})
