/** Services outside the cluster that a scenario needs, as processes: started for each run, and ended with it. */
import { connect } from 'node:net'
import { sleep } from '@reeve/http'
import type { PlainObject } from '../operator-under-test.ts'
import type { OutsideWorld } from '../world/outside-world.ts'
import { Child } from './child-process.ts'
import { freePorts } from './free-ports.ts'
import { ScenarioError } from './scenario-fields.ts'

/** How long a service may take to listen. */
const START_MS = 60_000
const POLL_MS = 50

interface Service {
  readonly command: string
  readonly child: Child
}

/** The services of one run. Their state is their own: it is not compared. */
export class ServiceWorld implements OutsideWorld {
  readonly #services: Service[] = []
  readonly #started: Promise<Readonly<Record<string, string>>>
  #failure: ScenarioError | undefined
  #isClosed = false

  constructor(commands: readonly string[], cwd: string) {
    this.#started = this.#start(commands, cwd)
    // Whoever needs them awaits it; until then a failure must not be unhandled.
    this.#started.catch(() => undefined)
  }

  /**
   * `REEVE_SERVICE_PORT_1` and so on, for the environment of processes and for manifests, once all services listen.
   *
   * *Errors*: {@link ScenarioError} when a service does not, or has ended since.
   */
  async variables(): Promise<Readonly<Record<string, string>>> {
    const variables = await this.#started
    if (this.#failure !== undefined) throw this.#failure
    return variables
  }

  state(): Readonly<Record<string, PlainObject>> {
    return {}
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#started.catch(() => undefined)
    for (const { child } of this.#services) child.signal('SIGKILL')
    await Promise.all(this.#services.map(({ child }) => child.ended().catch(() => undefined)))
  }

  async #start(commands: readonly string[], cwd: string): Promise<Readonly<Record<string, string>>> {
    if (commands.length === 0) return {}
    const ports = await freePorts(commands.length)
    const variables = Object.fromEntries(ports.map((port, index) => [`REEVE_SERVICE_PORT_${index + 1}`, String(port)]))
    for (const command of commands) {
      const child = new Child({ command, cwd, env: { ...process.env, ...variables } })
      this.#services.push({ command, child })
      child.ended().catch((error: Error) => {
        this.#failure ??= new ScenarioError(`the service "${command}" ended: ${error.message}`)
      })
    }
    await Promise.all(this.#services.map((service, index) => this.#untilListening(service, ports[index] ?? 0)))
    return variables
  }

  async #untilListening({ command, child }: Service, port: number): Promise<void> {
    const deadline = performance.now() + START_MS
    while (!(await accepts(port))) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#isClosed) return
      if (performance.now() > deadline)
        throw new ScenarioError(
          `the service "${command}" does not listen on its port within ${START_MS / 1_000} s: ${child.lastLines.slice(-3).join(' | ')}`,
        )
      await sleep(POLL_MS)
    }
  }
}

/** Whether something listens on a port of this machine. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    const end = (isOpen: boolean) => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
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
