import { enableCompileCache } from 'node:module'

/** What one way of finding nodes cost in its own process. Wall and CPU time in ms, from before its walk to the end. */
export type VariantFigures = { wallMs: number; cpuMs: number; files: number; nodes: number; peakMb: number }

/** Runs `find` once and prints its figures as the process's only line. */
export async function reportVariant(find: () => Promise<{ files: number; nodes: number }>): Promise<void> {
  enableCompileCache() // as our own programs do
  const before = process.cpuUsage()
  const start = performance.now()
  const found = await find()
  const wallMs = performance.now() - start
  const { user, system } = process.cpuUsage(before)
  const figures: VariantFigures = {
    wallMs,
    cpuMs: (user + system) / 1000,
    ...found,
    peakMb: (process.resourceUsage().maxRSS * 1024) / 1e6,
  }
  console.log(JSON.stringify(figures))
}
