import { describe, expect, it } from 'vitest'
import { refusedCalls } from './refused-calls.fixture.ts'
import { runIn, testSandbox } from './sandbox.fixture.ts'
import { refusedNames } from './system-call-filter.ts'

const { sandbox, lack } = await testSandbox(process.env)

/** A call of the system by its number, and how it failed. */
const numbers = `
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(value) for value in args])
    return 'done' if result >= 0 else errno.errorcode[ctypes.get_errno()]
`
const known: Readonly<Record<string, number>> = Object.fromEntries(
  refusedCalls.map(([name, ofX64, ofArm64]) => [name, process.arch === 'arm64' ? ofArm64 : ofX64]),
)

describe.skipIf(lack !== undefined)(`a program in bubblewrap${lack === undefined ? '' : ` (${lack})`}`, () => {
  it('is refused every system call that it does not need, and keys are not listed', async () => {
    expect(Object.keys(known).toSorted()).toEqual(refusedNames.toSorted())
    const calls = `for name, number in ${JSON.stringify(known)}.items(): print(name, call(number, 0, 0, 0, 0, 0))`
    // KEYCTL_GET_KEYRING_ID of the session.
    const more = `print('session', call(${known['keyctl']}, 0, -3, 0)); print('clone3', call(435, 0, 0))
for name in ('keys', 'key-users'):
    try: print(name, repr(open('/proc/' + name).read()))
    except OSError as error: print(name, 'closed')
`
    const { output, ending } = await runIn(sandbox, ['python3', '-c', `${numbers}\n${calls}\n${more}`])
    expect(ending).toEqual({ kind: 'exited', code: 0 })
    const lines = output.trimEnd().split('\n')
    const refused = [...refusedNames.map((name) => `${name} EPERM`), 'session EPERM']
    expect(lines.filter((line) => line.endsWith(' EPERM')).toSorted()).toEqual(refused.toSorted())
    expect(lines).toContain('clone3 ENOSYS')
    for (const name of ['keys', 'key-users']) expect(output).toMatch(new RegExp(`^${name} (?:closed|'')$`, 'm'))
  })

  it.skipIf(process.arch !== 'x64')('is refused calls by other numbers of the same processor', async () => {
    const x32 = `print(call(0x40000000 + 39))`
    expect((await runIn(sandbox, ['python3', '-c', `${numbers}\n${x32}`])).output).toBe('EPERM\n')
    // mov eax, 20 (getpid of 32 bits); int 0x80; ret
    const ofOld = `import mmap\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3')
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))())`
    const { ending, output } = await runIn(sandbox, ['python3', '-c', `${numbers}\n${ofOld}`])
    expect({ ending, output: output.includes('Bad system call') || output === '' }).toEqual({
      ending: { kind: 'exited', code: 159 },
      output: true,
    })
  })

  it('starts processes and threads as before', async () => {
    const code = `import subprocess, threading, concurrent.futures as f
print(subprocess.run(['node', '-e', 'new Worker("console.log(6 * 7)", { eval: true })'.replace('new', 'new (require("worker_threads")).') ], capture_output=True, text=True).stdout.strip(), list(f.ProcessPoolExecutor(2).map(abs, [-1, 2])))`
    expect((await runIn(sandbox, ['python3', '-c', code])).output).toBe('42 [1, 2]\n')
  })
})
