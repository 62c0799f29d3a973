import { describe, expect, it } from 'vitest'
import { refusedCalls } from './refused-calls.fixture.ts'
import { systemCallFilter } from './system-call-filter.ts'

const filter = Buffer.from(systemCallFilter('x64'))
const allowed = 'allowed'
const eperm = 'EPERM'
const enosys = 'ENOSYS'
const killed = 'killed'
const verdicts = new Map([
  [0x7fff_0000, allowed],
  [0x0005_0001, eperm],
  [0x0005_0026, enosys],
  [0x8000_0000, killed],
])
const x64 = 0xc000_003e
const arm64 = 0xc000_00b7

/** What the kernel makes of a call by this program: classic BPF, as seccomp(2) has it. */
function verdictOf(processor: number, number: number, firstArgument = 0n): string | undefined {
  const call = Buffer.alloc(64)
  call.writeUInt32LE(number, 0)
  call.writeUInt32LE(processor, 4)
  call.writeBigUInt64LE(firstArgument, 16)
  let loaded = 0
  for (let at = 0; at < filter.length / 8; at += 1) {
    const [code, yes, no] = [filter.readUInt16LE(at * 8), filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)]
    const value = filter.readUInt32LE(at * 8 + 4)
    if (code === 0x06) return verdicts.get(value)
    if (code === 0x20) loaded = call.readUInt32LE(value)
    else if (code === 0x15) at += loaded === value ? yes : no
    else if (code === 0x35) at += loaded >= value ? yes : no
    else if (code === 0x45) at += (loaded & value) !== 0 ? yes : no
    else return undefined
  }
  return undefined
}

/** read, openat, execve, exit_group, futex, mmap, prctl, seccomp, pidfd_open, getrandom, statx. */
const needed: [ofX64: number, ofArm64: number][] = [
  [0, 63],
  [257, 56],
  [59, 221],
  [231, 94],
  [202, 98],
  [9, 222],
  [157, 167],
  [317, 277],
  [434, 434],
  [318, 278],
  [332, 291],
]

describe('the filter of system calls', () => {
  it.each(refusedCalls)('refuses %s on both processors', (_, ofX64, ofArm64) => {
    expect([verdictOf(x64, ofX64), verdictOf(arm64, ofArm64)]).toEqual([eperm, eperm])
  })

  it('allows what programs need, and no more is refused than is meant', () => {
    for (const [ofX64, ofArm64] of needed) {
      expect([verdictOf(x64, ofX64), verdictOf(arm64, ofArm64)]).toEqual([allowed, allowed])
    }
    const every = Array.from({ length: 600 }, (_, number) => number)
    for (const processor of [x64, arm64]) {
      const counts = Map.groupBy(every, (number) => verdictOf(processor, number))
      expect([counts.get(enosys), counts.get(eperm)?.length]).toEqual([[435], 31])
    }
  })

  it('lets a process be made, and no namespace with it', () => {
    for (const [processor, clone] of [
      [x64, 56],
      [arm64, 220],
    ] as const) {
      expect(verdictOf(processor, clone, 0x0100_0011n)).toBe(allowed) // SIGCHLD and CLONE_CHILD_SETTID
      expect(verdictOf(processor, clone, 0x003d_0f00n)).toBe(allowed) // a thread
      for (const bit of [17n, 25n, 26n, 27n, 28n, 29n, 30n]) expect(verdictOf(processor, clone, 1n << bit)).toBe(eperm)
      expect(verdictOf(processor, 435)).toBe(enosys)
    }
  })

  it('refuses the second set of numbers, and ends what calls by those of another processor', () => {
    expect(verdictOf(x64, 0x4000_0000 + 0)).toBe(eperm)
    expect(verdictOf(x64, 0x4000_0000 + 250)).toBe(eperm)
    expect(verdictOf(x64, 0xffff_ffff)).toBe(eperm)
    for (const processor of [0x4000_0003, 0x4000_0028, 0xc000_00f3, 0]) expect(verdictOf(processor, 20)).toBe(killed)
    expect(() => systemCallFilter('riscv64')).toThrow('system calls cannot be filtered on this processor (riscv64)')
  })
})
