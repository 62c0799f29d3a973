import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ProblemBox } from './shown.tsx'

/** Makes a component whose code is loaded when it is first shown. */
export function lazyPage<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function LazyPage(props: Props) {
    const [state, setState] = useState<{ page?: ComponentType<Props>; error?: unknown }>(
      loaded === undefined ? {} : { page: loaded },
    )
    const fetchPage = () => {
      load().then(
        (page) => {
          loaded = page
          return setState({ page })
        },
        (error: unknown) => setState({ error }),
      )
    }
    useEffect(() => void (loaded === undefined && fetchPage()), [])
    if (state.error !== undefined) return <ProblemBox error={state.error} onRetry={fetchPage} />
    return state.page === undefined ? <p class="quiet">…</p> : <state.page {...props} />
  }
}
