/** Loads something when a view opens, and again when asked to. */
import { useEffect, useState } from 'preact/hooks'
import { get } from './api.ts'
import type { Store } from './store.ts'

/** What was loaded so far. */
export interface Loaded<T> {
  readonly value?: T
  readonly problem?: string
}

/**
 * Loads from the API. The last value is shown until the next one arrives.
 *
 * @param trigger anything whose change means that it has to be loaded again
 */
export function useLoaded<T>(
  store: Store,
  path: string,
  query: Readonly<Record<string, string>>,
  trigger: unknown = 0,
): Loaded<T> {
  const address = `${path}?${new URLSearchParams(query)}`
  const [state, setState] = useState<Loaded<T> & { readonly address: string }>({ address })
  useEffect(() => {
    let isCurrent = true
    get<T>(path, query).then(
      (value) => isCurrent && setState({ address, value }),
      (error: unknown) => isCurrent && setState({ address, problem: store.refused(error) }),
    )
    return () => {
      isCurrent = false
    }
  }, [address, trigger])
  return state.address === address ? state : {}
}
