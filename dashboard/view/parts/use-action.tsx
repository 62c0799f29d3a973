import { useState } from 'preact/hooks'
import { ProblemBox } from './problem-box.tsx'

export type Action = {
  run: (work: () => Promise<unknown>) => void
  isBusy: boolean
  /** Says what went wrong the last time, as a box; null where nothing did. */
  problem: ReturnType<typeof ProblemBox> | null
}

/** Does what a person asks for, one thing at a time, and keeps what went wrong. */
export function useAction(): Action {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false })
  return {
    run(work) {
      if (state.isBusy) return
      setState({ isBusy: true })
      work().then(
        () => setState({ isBusy: false }),
        (error: unknown) => setState({ isBusy: false, error }),
      )
    },
    isBusy: state.isBusy,
    problem: state.error === undefined ? null : <ProblemBox error={state.error} />,
  }
}
