/** Services outside the cluster that a scenario needs, as processes: started for each run, and ended with it. */
import type { PlainObject } from '../operator-under-test.ts'
import type { OutsideWorld } from '../world/outside-world.ts'
import { Child } from './child-process.ts'
import { freePorts } from './free-ports.ts'

/** The services of one run. Their state is their own: it is not compared. */
export class ServiceWorld implements OutsideWorld {
  /** `REEVE_SERVICE_PORT_1` and so on, for the environment of processes and for manifests. */
  readonly variables: Promise<Readonly<Record<string, string>>>
  readonly #children: Child[] = []

  constructor(commands: readonly string[], cwd: string) {
    this.variables = this.#start(commands, cwd)
    // Whoever needs them awaits it; until then a failure must not be unhandled.
    this.variables.catch(() => undefined)
  }

  state(): Readonly<Record<string, PlainObject>> {
    return {}
  }

  async close(): Promise<void> {
    await this.variables.catch(() => undefined)
    for (const child of this.#children) child.signal('SIGKILL')
    await Promise.all(this.#children.map((child) => child.ended()))
  }

  async #start(commands: readonly string[], cwd: string): Promise<Readonly<Record<string, string>>> {
    if (commands.length === 0) return {}
    const ports = await freePorts(commands.length)
    const variables = Object.fromEntries(ports.map((port, index) => [`REEVE_SERVICE_PORT_${index + 1}`, String(port)]))
    for (const command of commands) {
      const child = new Child({ command, cwd, env: { ...process.env, ...variables } })
      this.#children.push(child)
    }
    return variables
  }
}

/** The value with `${REEVE_SERVICE_PORT_1}` and the like replaced in its texts. */
export function substituted<T>(value: T, variables: Readonly<Record<string, string>>): T {
  if (Object.keys(variables).length === 0) return value
  const text = JSON.stringify(value).replace(
    /\$\{(REEVE_[A-Z0-9_]+)\}/g,
    (found, name: string) => variables[name] ?? found,
  )
  return JSON.parse(text) as T
}
