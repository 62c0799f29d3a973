import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { getServers } from 'node:dns'
import { createServer } from 'node:net'
import { homedir, networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { maxReportBytes, sandboxVariables } from './sandboxed-program.ts'
import { processesWith, runIn, testSandboxes, usualLimits } from './sandbox.fixture.ts'

const sandboxes = await testSandboxes(process.env)
const python = (code: string) => ['python3', '-c', code] as const
const shell = (script: string) => ['sh', '-c', script] as const

/** Of this machine, and of the servers it asks for names. */
function hostAddresses(): string[] {
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
  return [...own.filter(({ internal }) => !internal).map(({ address }) => address), ...getServers()]
}

const limits = { wallMs: 2_000, memoryBytes: 200_000_000, diskBytes: 32 * 1024 ** 2 }

describe.each(sandboxes)('what a hostile program can do in $name', ({ sandbox, lack }) => {
  describe.skipIf(lack !== undefined)(`here: ${lack ?? 'yes'}`, () => {
    // A container may use for memory what it does not use for files, and takes longer to fill it.
    it.each([
      ['takes memory without end', python('x = [bytearray(10_000_000) for _ in range(10_000)]'), 'memory'],
      [
        'takes memory in many processes',
        python(
          'import os\nfor _ in range(40):\n  if os.fork() == 0:\n    x = bytearray(30_000_000)\n    while True: pass\nos.wait()',
        ),
        'memory',
      ],
      [
        'takes memory that it shares',
        python('import mmap\nx = mmap.mmap(-1, 2_000_000_000)\nfor at in range(0, 2_000_000_000, 4096): x[at] = 1'),
        'memory',
      ],
      ['writes without end', shell('yes'), 'output'],
      ['computes without end', python('while True: pass'), 'time'],
      ['ignores the signals that end a program', shell("trap '' TERM INT HUP; while :; do sleep 1; done"), 'time'],
    ])('a program that %s is stopped', async (_what, command, reason) => {
      const wallMs = reason === 'memory' ? 30_000 : limits.wallMs
      const { ending } = await runIn(sandbox, command, { limits: { ...limits, wallMs } })
      expect(ending).toEqual({ kind: 'stopped', reason })
    })

    it('forks no more processes than it may have, and ends', async () => {
      const { ending } = await runIn(sandbox, shell('f() { f | f & }; f; sleep 20'), {
        limits: { wallMs: 2_000, processes: 50 },
      })
      expect(ending).toMatchObject({ kind: 'stopped', reason: expect.stringMatching(/^(?:time|processes)$/) })
    })

    it('fills its own folders, and no disk', async () => {
      const fill = (where: string) => `head -c 30000000 /dev/zero > ${where}/a; head -c 30000000 /dev/zero > ${where}/b`
      const script = ['.', '/tmp', '/dev/shm'].map(fill).join('; ')
      const ended = await runIn(sandbox, shell(`${script}; du -cb . /tmp /dev/shm | tail -n 1`), {
        limits: { diskBytes: 40_000_000 },
      })
      expect(ended.output).toContain('No space left on device')
      expect(Number(/(\d+)\ttotal/.exec(ended.output)?.[1])).toBeLessThan(40_000_000 * 2 + 64 * 1024 ** 2 + 100_000)
    })

    it('leaves no process behind, not even one that leaves its session', async () => {
      const word = `left-behind-${process.pid}`
      const script = `(exec -a ${word} setsid sleep 600) & (setsid sh -c 'sleep 600; : ${word}' &) ; sleep 0.1; echo done`
      const { output } = await runIn(sandbox, ['bash', '-c', script])
      expect(output).toBe('done\n')
      await until(() => processesWith(word), { holds: ({ length }) => length === 0 })
    })

    it('ends with all that it has started when its run is cancelled', async () => {
      const word = `cancelled-${process.pid}`
      const stop = new AbortController()
      const running = runIn(sandbox, shell(`: ${word}; sleep 600 & sleep 600`), { signal: stop.signal })
      await until(() => processesWith(word), { holds: ({ length }) => length > 0 })
      stop.abort(new Error('enough'))
      await expect(running).rejects.toThrow('enough')
      await until(() => processesWith(word), { holds: ({ length }) => length === 0 })
    })

    it('reaches no network, not even this machine', async () => {
      const server = createServer().listen(0, '127.0.0.1')
      const address = server.address()
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0
      const code = `import socket\nfor host, port in [("127.0.0.1", ${port}), ("1.1.1.1", 53)]:\n  try:\n    socket.create_connection((host, port), 2); print("reached")\n  except OSError as e: print(e.strerror)`
      const { output } = await runIn(sandbox, python(code))
      server.close()
      expect(output).toBe('Connection refused\nNetwork is unreachable\n')
    })

    it("sees none of this machine's files, processes and variables", async () => {
      const dirs = await Promise.all([tmpdir(), homedir()].map((dir) => mkdtemp(join(dir, 'remora-host-'))))
      const secrets = dirs.map((dir) => join(dir, 'secret'))
      for (const secret of secrets) await writeFile(secret, 'host secret', { mode: 0o644 })
      const script = `cat ${secrets.join(' ')} /etc/shadow /proc/${process.pid}/environ; ls /home/* /root; env; cat /proc/[0-9]*/environ; ls /proc`
      const { output } = await runIn(sandbox, shell(`${script}; cat /etc/hosts /etc/hostname /etc/resolv.conf`))
      for (const dir of dirs) await rm(dir, { recursive: true })
      expect(output).not.toContain('host secret')
      expect(output).not.toMatch(/^(?:root|nobody):/m)
      expect(output).not.toMatch(new RegExp(`^${process.pid}$`, 'm'))
      for (const address of hostAddresses()) expect(output).not.toContain(address)
      const variables = output.split('\n').flatMap((line) => /^([A-Z_]+)=/.exec(line)?.[1] ?? [])
      expect(new Set(variables)).toEqual(new Set([...Object.keys(sandboxVariables), 'OLDPWD', 'PATH', 'PWD']))
    })

    it('writes nowhere but to its own folders', async () => {
      const places = ['/', '/usr', '/usr/bin', '/etc', '/dev', '/remora', '/remora/bin', '/proc/sys/kernel']
      const { output } = await runIn(
        sandbox,
        shell(places.map((at) => `: > ${at}/x && echo "written ${at}"`).join('; ')),
      )
      expect(output).not.toContain('written')
    })

    it('gets no privilege, no user namespace and no mount', async () => {
      const script = `grep -E '^(Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs)' /proc/self/status; unshare -U true && echo namespace; mount -t tmpfs none /tmp && echo mounted; chroot / true && echo rooted; echo 1 > /proc/sys/kernel/hostname && echo named; nice -n -5 true && echo first`
      const { output } = await runIn(sandbox, shell(script))
      expect(output.match(/^Cap\w+:\t0{16}$/gm)).toHaveLength(4)
      expect(output).toContain('NoNewPrivs:\t1')
      expect(output).not.toMatch(/^(?:namespace|mounted|rooted|named)$/m)
    })

    it('gets nothing by a setuid program, its own or one of the system', async () => {
      const script = `cp /bin/sh shell; chmod 6755 shell; ./shell -p -c 'id -u'; id -u; su -c 'echo became root' </dev/null; find / -xdev -perm -4000 -writable`
      const { output } = await runIn(sandbox, shell(script))
      // The same twice, and not root.
      expect(output).toMatch(/^([1-9]\d*)\n\1$/m)
      expect(output).not.toContain('became root\n')
    })

    it('cannot signal a process outside', async () => {
      const { output } = await runIn(sandbox, shell(`kill -0 ${process.pid} && echo alive; kill -9 -1; echo on`))
      expect(output).not.toContain('alive')
      expect(process.exitCode).toBeUndefined()
    })

    it('keeps its limits where a setup has installed programs of the names that set them', async () => {
      const dir = await mkdtemp(join(tmpdir(), 'remora-host-'))
      await chmod(dir, 0o755)
      const planted = ['mkdir', 'cp', 'tar', 'xargs', 'rm', 'nice', 'prlimit', 'env', 'head']
      for (const name of [...planted, 'own'])
        await writeFile(join(dir, name), '#!/bin/sh\necho planted\n', { mode: 0o755 })
      const { output } = await sandbox.run(
        {
          command: shell('ulimit -n; cat a; own; prlimit'),
          environment: { PATH: '/environment:/usr/bin:/bin' },
          mounts: [{ from: dir, to: '/environment' }],
          files: { changed: [{ path: 'a', content: Buffer.from('a\n'), executable: false }] },
          limits: usualLimits,
        },
        new AbortController().signal,
      )
      await rm(dir, { recursive: true })
      expect(output).toBe('1024\na\nplanted\nplanted\n')
    })

    it('is not made to read or write elsewhere by links in its files or in place of its report', async () => {
      const dir = await mkdtemp(join(tmpdir(), 'remora-host-'))
      await writeFile(join(dir, 'secret'), 'host secret', { mode: 0o644 })
      const linked = await runIn(sandbox, shell(`ln -s ${join(dir, 'secret')} /tmp/report`), { report: '/tmp/report' })
      const endless = await runIn(sandbox, shell('ln -s /dev/zero /tmp/report'), { report: '/tmp/report' })
      const silent = await runIn(sandbox, shell('mkfifo /tmp/report'), {
        report: '/tmp/report',
        limits: { wallMs: 1_000 },
      })
      await rm(dir, { recursive: true })
      expect(linked.report).toBeUndefined()
      expect([endless.report?.length, endless.isReportCut]).toEqual([maxReportBytes, true])
      expect(silent.ending).toEqual({ kind: 'stopped', reason: 'time' })
    })
  })
})
