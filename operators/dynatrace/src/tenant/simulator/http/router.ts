/** Finds the route of a request. */

import type { Call } from './call.ts'
import type { ErrorForm } from './error-response.ts'
import type { SimulatedResponse } from './response.ts'

/** The variable parts of a path, by name. */
export type PathParameters = Readonly<Record<string, string>>

/** One call of one API. */
export interface Route {
  /** Stable name: the log, the page and fault rules use it. */
  readonly operation: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /**
   * Below the address of a tenant (`tenant`), of its platform, or of the simulator itself.
   */
  readonly area: 'tenant' | 'platform' | 'simulator'
  /** `:name` stands for one segment, `:name+` for one or more. */
  readonly path: string
  readonly errors: ErrorForm
  /** Whether it concerns the simulator itself: such calls are neither recorded nor subject to faults. @default false */
  readonly isOwn?: boolean
  handle(call: Call, parameters: PathParameters): SimulatedResponse | Promise<SimulatedResponse>
}

/** The matching route, or the methods that the path allows. */
export type Match =
  | { readonly route: Route; readonly parameters: PathParameters }
  | { readonly allowedMethods: readonly string[] }

interface CompiledRoute {
  readonly route: Route
  readonly pattern: RegExp
}

/** A table of routes. The first match wins. */
export class Router {
  readonly #routes: readonly CompiledRoute[]

  constructor(routes: readonly Route[]) {
    this.#routes = routes.map((route) => ({ route, pattern: compile(route.path) }))
  }

  /** The names of all calls, for fault rules and the page. */
  get operations(): readonly string[] {
    const calls = this.#routes.filter(({ route }) => route.isOwn !== true)
    return [...new Set(calls.map(({ route }) => route.operation))]
  }

  /** `HEAD` matches the routes of `GET`. */
  find(area: Route['area'], method: string, path: string): Match {
    const allowedMethods = new Set<string>()
    for (const { route, pattern } of this.#routes) {
      const found = route.area === area ? pattern.exec(path) : null
      if (found === null) continue
      if (route.method === (method === 'HEAD' ? 'GET' : method)) return { route, parameters: decode(found.groups) }
      allowedMethods.add(route.method)
    }
    return { allowedMethods: [...allowedMethods] }
  }
}

function compile(path: string): RegExp {
  const pattern = path
    .replace(/[.*?^$()[\]{}|\\]/g, '\\$&')
    .replace(/:(\w+)(\+)?/g, (_whole, name: string, many: string | undefined) =>
      many === undefined ? `(?<${name}>[^/]+)` : `(?<${name}>.+)`,
    )
  return new RegExp(`^${pattern}$`)
}

function decode(groups: Readonly<Record<string, string>> | undefined): PathParameters {
  return Object.fromEntries(Object.entries(groups ?? {}).map(([name, value]) => [name, decodeSegment(value)]))
}

function decodeSegment(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    // An invalid escape matches nothing; the handler responds with 404.
    return value
  }
}
