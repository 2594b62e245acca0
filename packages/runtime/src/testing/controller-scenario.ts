/** Set-up shared by the tests of controllers: a controller for widgets on a fake cluster and a simulated clock. */
import { Controller } from '../controller/controller.ts'
import type { ControllerEnvironment, ControllerOptions } from '../controller/controller-options.ts'
import type { ReconcileRequest } from '../controller/reconcile-request.ts'
import { type CacheScenario, cacheScenario } from './cache-scenario.ts'
import { type Widget, Widgets } from './fake-objects.ts'

/** See {@link controllerScenario}. */
export interface ControllerScenario extends CacheScenario {
  readonly controller: Controller<Widget>
  /** Every call of the reconcile function so far. */
  readonly requests: ReconcileRequest<Widget>[]
  /** Stops the controller; resolves when it has ended. */
  stopController(reason?: unknown): Promise<void>
}

/** Starts cache and controller; `reconcile` does nothing unless given. */
export async function controllerScenario(
  options: Partial<ControllerOptions<Widget>> = {},
  environment: Partial<ControllerEnvironment> = {},
  prepare: (scenario: CacheScenario) => void = () => undefined,
): Promise<ControllerScenario> {
  const scenario = cacheScenario()
  const { cache, cluster, clock } = scenario
  prepare(scenario)
  const requests: ReconcileRequest<Widget>[] = []
  const made = new Controller<Widget>(
    {
      name: 'widget',
      for: Widgets,
      ...options,
      reconcile: async (request) => {
        requests.push(request)
        return options.reconcile?.(request)
      },
    },
    { cache, client: cluster.client, clock, random: () => 0, ...environment },
  )
  await scenario.start()
  const stopping = new AbortController()
  const running = made.run(stopping.signal)
  await clock.settle()
  const stopController = async (reason?: unknown) => {
    stopping.abort(reason)
    await running
  }
  return {
    ...scenario,
    controller: made,
    requests,
    stopController,
    stop: async () => {
      await clock.runToCompletion(stopController())
      await scenario.stop()
    },
  }
}
