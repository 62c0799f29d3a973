import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'

const module = new URL('interrupt.ts', import.meta.url).href

/** A program that says `ready`, and does `work` when it is interrupted. */
async function program(limitMs: number, work: string) {
  const source = `import { onInterrupt } from ${JSON.stringify(module)}
    const signal = onInterrupt({ limitMs: ${limitMs} })
    signal.addEventListener('abort', () => { ${work} })
    setInterval(() => {}, 1000)
    console.log('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit').then(([code, signal]: unknown[]) => code ?? signal)
  await once(createInterface(child.stdout), 'line')
  return { child, exited }
}

describe('an interrupted program', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('may stop by itself on %s', async (signal) => {
    const { child, exited } = await program(60_000, 'process.exit(7)')
    child.kill(signal)
    expect(await exited).toBe(7)
  })

  it('is ended when nothing has stopped it in its time', async () => {
    const { child, exited } = await program(50, '')
    child.kill('SIGTERM')
    expect(await exited).toBe(130)
  })
})
