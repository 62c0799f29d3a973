import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { delay } from '#platform/clock.ts'

/** Memory of a process in bytes: resident, and what lives on its heap and outside it after a collection. */
export type MemorySample = { operations: number; residentBytes: number; heapBytes: number; externalBytes: number }

const HeapLine = z.tuple([z.coerce.number(), z.coerce.number()])
const pollMs = 5

/** Asks the process `pid`, which heap-probe.ts was loaded into, to collect its garbage and say what is left. */
export async function sampleMemory(pid: number, heapFile: string, operations: number): Promise<MemorySample> {
  const before = (await linesOf(heapFile)).length
  process.kill(pid, 'SIGUSR2')
  let lines = await linesOf(heapFile)
  while (lines.length === before) {
    await delay(pollMs)
    lines = await linesOf(heapFile)
  }
  const [heapBytes, externalBytes] = HeapLine.parse(lines.at(-1)?.split(' '))
  return { operations, residentBytes: residentBytes(pid), heapBytes, externalBytes }
}

async function linesOf(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
}

/** Reads /proc, so on Linux only. */
function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) * 1024
}
