import type { SideReport } from './side-report.ts'

/** What a call of `remora harness` found. */
export type HarnessReport = {
  agent: string
  seed: number
  /** Of every prompt. */
  requests: number
  concurrency: number
  peakInFlight: number
  minCalled: number
  durationMs: number
  /** The one under test, and what it is compared with. */
  sides: readonly [SideReport, SideReport?]
}

/** Whether the side under test calls as often as it must. */
export function isGoodEnough({ sides: [tested], minCalled }: HarnessReport): boolean {
  return tested.total.called >= minCalled
}
