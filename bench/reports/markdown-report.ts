import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { z } from 'zod'

const packages = ['undici', 'openai', 'bullmq', 'ioredis', '@aws-sdk/client-s3', '@pydantic/monty', 'zod']

/** Where and with what a result was measured: one sentence of Markdown. */
export function machineText(command: string, { redisVersion }: { redisVersion?: string }): string {
  const [cpu] = cpus()
  const machine = `${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB`
  const versions = packages.map((name) => `${name} ${versionOf(name)}`).join(', ')
  const redis = redisVersion === undefined ? '' : `, Redis ${redisVersion}`
  const today = new Date().toISOString().slice(0, 10)
  return `Written by \`${command}\` on ${today}: ${machine}, Node ${process.version}${redis}, ${versions}.`
}

/** The version of an installed package: one of ours, or of the folder with its own `node_modules`. */
export function versionOf(name: string, folder = '../../'): string {
  const manifest = new URL(`${folder}node_modules/${name}/package.json`, import.meta.url)
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(manifest, 'utf8'))).version
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

/** `median (least–most)`. */
export function spreadText(values: readonly number[], digits: number): string {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return `${median(values).toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`
}
