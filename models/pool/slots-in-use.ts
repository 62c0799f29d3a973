import type { RequestShare } from '#domain/turn.ts'

export type SlotsInUse = ReturnType<typeof openSlotsInUse>

/** What runs share is the time at the servers: one whose requests take longer has fewer of them answered. */
export function openSlotsInUse() {
  const counts = new Map<string, number>()
  const count = (key: string) => counts.get(key) ?? 0
  const add = (key: string, change: 1 | -1) => {
    const now = count(key) + change
    if (now === 0) counts.delete(key)
    else counts.set(key, now)
  }
  return {
    /** Counts a slot until the returned function is called. */
    enter(model: string, share: RequestShare | undefined): () => void {
      const keys = [projectKey(model, share), runKey(model, share)]
      for (const key of keys) add(key, 1)
      return () => {
        for (const key of keys) add(key, -1)
      }
    },
    /** Returns the slots of the run's project, and those of the run for its weight. */
    of: (model: string, share: RequestShare | undefined) => ({
      project: count(projectKey(model, share)),
      run: count(runKey(model, share)) / (share?.weight ?? 1),
    }),
  }
}

function projectKey(model: string, share: RequestShare | undefined): string {
  return `${model}\n${share?.projectId ?? ''}`
}

function runKey(model: string, share: RequestShare | undefined): string {
  return `${projectKey(model, share)}\n${share?.runId ?? ''}`
}
