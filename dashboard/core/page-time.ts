import { signal } from '@preact/signals'
import { pause } from '#client/timers.ts'

const tick = signal(Date.now())
let isRunning = false

/** Returns the time of now, in milliseconds; who reads it is drawn again each second. */
export function currentTime(): number {
  if (!isRunning) void run()
  return tick.value
}

async function run(): Promise<void> {
  isRunning = true
  for (;;) {
    await pause(1_000, undefined)
    if (document.visibilityState === 'visible') tick.value = Date.now()
  }
}

/** Writes a duration in one or two units: `12 s`, `4 min`, `3 h 20 min`, `2 d 5 h`. */
export function roughly(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return minutes < 10 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Writes a time of the day, with its date unless that is today. */
export function clockTime(ts: string): string {
  const [at, today] = [new Date(ts), new Date()]
  const two = (part: number) => String(part).padStart(2, '0')
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
  if (at.toDateString() === today.toDateString()) return time
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`
}
