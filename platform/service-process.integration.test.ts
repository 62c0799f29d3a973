import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { plantedSecrets } from '#testing/planted-secrets.ts'

const module = new URL('service-process.ts', import.meta.url).href

/** A service that says `ready`, starts as `starting` says and closes as `close` does, given SIGTERM. */
async function endOf(close: string, starting = 'Promise.resolve({ close })'): Promise<unknown> {
  const source = `import { exitOnSignal } from ${JSON.stringify(module)}
    const close = ${close}
    exitOnSignal(${starting})
    setInterval(() => {}, 1000)
    console.log('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  await once(createInterface(child.stdout), 'line')
  child.kill('SIGTERM')
  const [code]: unknown[] = await exited
  return code
}

const again = `const heard = new Promise((resolve) => process.once('SIGTERM', resolve)); process.kill(process.pid, 'SIGTERM'); await heard`

describe('a service that is asked to stop', () => {
  it('closes to the end, and exits 0', async () => {
    expect(await endOf('async () => {}')).toBe(0)
  })

  it('while it starts closes it as soon as it has started', async () => {
    const heard = `new Promise((resolve) => process.once('SIGTERM', () => setTimeout(resolve, 50, { close })))`
    const late = `Promise.resolve().then(() => ${heard})`
    expect(await endOf('async () => process.exit(7)', late)).toBe(7)
  })

  it('closes to the end when the same signal reaches it twice, by its process group and by the process before it', async () => {
    expect(await endOf(`async () => { ${again}; await new Promise(setImmediate) }`)).toBe(0)
  })

  it('exits at once when somebody asks again', async () => {
    const late = 'const from = performance.now(); while (performance.now() - from < 600);'
    expect(await endOf(`async () => { ${late} ${again}; await new Promise(() => {}) }`)).toBe(130)
  })
})

describe('a service with a bug', () => {
  it.each([
    ['at its start', 'async () => { fail() }'],
    ['later', 'async () => void setTimeout(fail, 1)'],
    ['in a promise that nobody waits for', 'async () => void Promise.resolve().then(fail)'],
  ])('%s ends with the stack of its error, without the secrets in it', async (_when, main) => {
    const [{ code, value } = { code: '', value: '' }] = plantedSecrets
    const source = `import { runService } from ${JSON.stringify(module)}
      const fail = () => { throw new TypeError('cannot read ' + ${JSON.stringify(code)}) }
      await runService(${main})`
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
      stdio: ['ignore', 'inherit', 'pipe'],
    })
    const [said, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    expect(said).toMatch(/TypeError: cannot read "\[secret\]"\n\s+at .*\bfail\b/)
    expect(said).not.toContain(value)
    expect(exitCode).toBe(1)
  })
})
