import { AppError } from '#domain/error.ts'

type Numbers = readonly [x64: number, arm64: number]

/**
 * No program of a repository, setup or tool script needs these calls: they reach the keys and processes of others,
 * change what a process sees, or open much of the kernel. A call with one number is newer than the two processors, and
 * has the same on each.
 */
const refusedCalls: Readonly<Record<string, Numbers | number>> = {
  // Keyrings, which a program would have in common with the service that started it.
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: 438,
  kcmp: [312, 272],
  process_madvise: 440,
  // Namespaces and mounts.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  open_tree_attr: 467,
  open_by_handle_at: [304, 265],
  // Large parts of the kernel that have often led out of a sandbox, and what it writes of itself.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  syslog: [103, 116],
}

export const refusedNames: readonly string[] = Object.keys(refusedCalls)

/** Their flags are in the first argument of `clone`; of `clone3` in memory, which a filter cannot read. */
const clone: Numbers = [56, 220]
const clone3 = 435
/** Marks the flags of clone(2) that make namespaces. */
export const namespaceFlags = 0x7e02_0000
/** Marks the numbers of a second set of calls that x86-64 may have (x32). */
const x32Bit = 0x4000_0000

/** Lists processors with the numbers by which a filter sees them (AUDIT_ARCH_…). */
const processors = [
  { node: 'x64', audit: 0xc000_003e, at: 0 },
  { node: 'arm64', audit: 0xc000_00b7, at: 1 },
] as const

const bpf = { load: 0x20, jumpIfEqual: 0x15, jumpIfAtLeast: 0x35, jumpIfAnyBit: 0x45, return: 0x06 }
/** A call has them at these offsets: struct seccomp_data. The first argument's lower half comes first on both processors. */
const data = { number: 0, processor: 4, firstArgument: 16 }
const verdicts = { allow: 0x7fff_0000, kill: 0x8000_0000, notPermitted: 0x0005_0001, unknown: 0x0005_0026 }

/** `yes` and `no`: how many instructions to leave out then. */
type Instruction = { code: number; value: number; yes?: number; no?: number }

/**
 * The filter of system calls for programs in bubblewrap (`--seccomp`), for the processors that the kernel may run their calls on. What is
 * refused fails with EPERM, `clone3` with ENOSYS, so that libraries use `clone`; a call by the numbers of another processor, such as those of
 * 32 bits, ends the process. TOOL_005 on a machine whose numbers it does not know.
 */
export function systemCallFilter(processor: string = process.arch): Uint8Array {
  if (!processors.some(({ node }) => node === processor)) {
    throw new AppError('TOOL_005', `system calls cannot be filtered on this processor (${processor})`)
  }
  const blocks = processors.map(({ audit, at }) => ({ audit, block: blockOf(at) }))
  return encode([
    { code: bpf.load, value: data.processor },
    ...blocks.flatMap(({ audit, block }) => [{ code: bpf.jumpIfEqual, value: audit, no: block.length }, ...block]),
    { code: bpf.return, value: verdicts.kill },
  ])
}

function blockOf(at: 0 | 1): Instruction[] {
  const numberOf = (numbers: Numbers | number) => (typeof numbers === 'number' ? numbers : numbers[at])
  const refused = Object.values(refusedCalls).map(numberOf)
  const checks: { instruction: Instruction; verdict: 'notPermitted' | 'unknown' }[] = [
    { instruction: { code: bpf.jumpIfAtLeast, value: x32Bit }, verdict: 'notPermitted' },
    { instruction: { code: bpf.jumpIfEqual, value: clone3 }, verdict: 'unknown' },
    ...refused.map((value) => ({
      instruction: { code: bpf.jumpIfEqual, value },
      verdict: 'notPermitted' as const,
    })),
  ]
  const tail: Instruction[] = [
    { code: bpf.jumpIfEqual, value: clone[at], no: 2 },
    { code: bpf.load, value: data.firstArgument },
    { code: bpf.jumpIfAnyBit, value: namespaceFlags, yes: 1 },
    { code: bpf.return, value: verdicts.allow },
    { code: bpf.return, value: verdicts.notPermitted },
    { code: bpf.return, value: verdicts.unknown },
  ]
  const ends = { notPermitted: checks.length + tail.length - 2, unknown: checks.length + tail.length - 1 }
  const jumps = checks.map(({ instruction, verdict }, place) => ({ ...instruction, yes: ends[verdict] - place - 1 }))
  return [{ code: bpf.load, value: data.number }, ...jumps, ...tail]
}

function encode(instructions: readonly Instruction[]): Uint8Array {
  const program = Buffer.alloc(instructions.length * 8)
  for (const [place, { code, value, yes = 0, no = 0 }] of instructions.entries()) {
    program.writeUInt16LE(code, place * 8)
    program.writeUInt8(yes, place * 8 + 2)
    program.writeUInt8(no, place * 8 + 3)
    program.writeUInt32LE(value, place * 8 + 4)
  }
  return program
}
