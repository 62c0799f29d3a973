import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { boundPort } from '#platform/http-health.ts'
import { until } from '#testing/until.ts'
import { lacksMachines, type Machine, type Machines, openMachines } from './machines.ts'

const execute = promisify(execFile)
const lack = lacksMachines()
if (lack !== undefined) process.stderr.write(`no machines here, what needs them is skipped: ${lack}\n`)

describe.skipIf(lack !== undefined)('machines of a network', () => {
  const server = createServer()
  const said: string[] = []
  const clients: Socket[] = []
  let machines: Machines
  let machine: Machine

  beforeAll(async () => {
    machines = await openMachines(['a', 'b'])
    machine = machines.named('a')
    server.on('connection', (socket) => {
      clients.push(socket.on('error', () => {}).on('data', (chunk) => said.push(chunk.toString())))
    })
    server.listen(0, machines.address)
    await once(server, 'listening')
  })
  afterAll(() => {
    for (const client of clients) client.destroy()
    server.close()
    machines.close()
  })

  /** A program on the machine that says the word over a new connection and holds it, until `end`. */
  function say(word: string) {
    const [program = '', ...words] = machine.enter
    const line = `exec 3<>/dev/tcp/${machines.address}/${boundPort(server)}; echo -n ${word} >&3; exec cat <&3 >&2`
    const child = execFile(program, [...words, 'bash', '-c', line], () => {})
    return { end: () => child.kill('SIGKILL') }
  }

  it('reach this one, and lose packets without an error while they are cut off', async () => {
    for (const [lost, word] of [
      ['both', 'one'],
      ['sent', 'two'],
      ['received', 'three'],
    ] as const) {
      const before = machines.lostPackets()
      const mend = await machine.cut(lost)
      const speaker = say(word)
      await until(() => machines.lostPackets(), { holds: (count) => count > before })
      expect(said).not.toContain(word)
      await mend()
      await until(() => said, { holds: (words) => words.includes(word) })
      speaker.end()
    }
  })

  it('hold silent connections, and make new ones', async () => {
    const held = say('five')
    await until(() => said, { holds: (words) => words.includes('five') })
    const source = await machine.loseConnections()
    expect(clients.at(-1)?.remoteAddress).toBe(source)
    expect(await machine.connectionsFrom(source)).toBe(1)
    const before = machines.lostPackets()
    clients.at(-1)?.write('an answer')
    await until(() => machines.lostPackets(), { holds: (count) => count > before })
    const speaker = say('six')
    await until(() => said, { holds: (words) => words.includes('six') })
    expect(clients.at(-1)?.remoteAddress).not.toBe(source)
    held.end()
    speaker.end()
    await until(() => machine.connectionsFrom(source), { holds: (count) => count === 0 })
  })

  it('are gone after their end, and so are those of a process that has died', async () => {
    const code = `
      const { openMachines } = await import('${new URL('./machines.ts', import.meta.url).href}')
      await openMachines(['a'])
      process.kill(process.pid, 'SIGKILL')`
    const dead = execFile(process.execPath, ['--input-type=module', '-e', code])
    await once(dead, 'exit')
    const spaces = async () => (await execute('ip', ['netns', 'list'])).stdout
    expect(await spaces()).toContain(`remora-chaos-${dead.pid}-a`)
    machines.close()
    machines = await openMachines(['c'])
    expect(await spaces()).not.toContain(`remora-chaos-${dead.pid}-`)
    expect(await spaces()).not.toContain(`remora-chaos-${process.pid}-a`)
    machines.close()
    expect(await spaces()).not.toContain(`remora-chaos-${process.pid}-`)
  })
})
