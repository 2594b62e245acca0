/** Makes an exploration of a scenario file: the operator is a command, and its time is real. */
import { dirname, resolve } from 'node:path'
import { crdFromManifest } from '../crd-manifests.ts'
import type { Exploration, OperatorUnderTest, PlainObject, User } from '../operator-under-test.ts'
import { ignoring } from './ignored-fields.ts'
import { performAction } from './perform-action.ts'
import { processInstance } from './process-operator.ts'
import { ScenarioError } from './scenario-fields.ts'
import type { ScenarioFile } from './scenario-file.ts'
import { scenarioTimes } from './scenario-times.ts'
import { ServiceWorld, substituted } from './service-world.ts'
import type { WebhookTrust } from './webhook-trust.ts'

/** How the processes of an exploration are run. */
export interface ScenarioExplorationOptions {
  /** Replaces the command of the file. */
  readonly command?: string | undefined
  /** Variables of the operator, in addition to those of the file. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The path of the scenario file: services are started in its folder. */
  readonly path: string
  /** Certificates for webhooks, where there are any. */
  readonly trust?: WebhookTrust | undefined
  /** Called for every line that an instance prints. */
  readonly onLine?: ((instance: string, line: string) => void) | undefined
  /** Ends runs in progress. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The exploration.
 *
 * *Errors*: {@link ScenarioError} without a command, and for times that cannot work together.
 */
export function scenarioExploration(
  file: ScenarioFile,
  options: ScenarioExplorationOptions,
): Exploration<ServiceWorld> {
  return { operator: operatorOf(file, options), scenario: scenarioOf(file, options.signal) }
}

function operatorOf(file: ScenarioFile, options: ScenarioExplorationOptions): OperatorUnderTest<ServiceWorld> {
  const command = options.command ?? file.command
  if (command === undefined)
    throw new ScenarioError('operator.command is missing: say how to start the operator there, or with --command')
  const { trust } = options
  const folder = dirname(resolve(options.path))
  const crds = file.crds.map((crd) => crdFromManifest(trust?.trusted(crd) ?? crd))
  const examples = exampleSpecs(file)
  return {
    name: file.name,
    crds,
    hasElection: file.electedCommand !== undefined,
    realTime: { ...scenarioTimes(file), signal: options.signal },
    start: (place) => ({
      run: async (signal) => {
        const instance = processInstance(
          {
            command: (place.leaderElection && file.electedCommand) || command,
            cwd: process.cwd(),
            env: {
              ...file.env,
              ...options.env,
              ...(await place.world.variables()),
              ...(trust && { REEVE_WEBHOOK_CERTS: trust.folder }),
            },
            onLine: options.onLine,
            onPorts: (ports) => {
              for (const { service, port } of file.webhooks) place.serve(service, ports[port - 1] ?? 0)
            },
          },
          place,
        )
        await instance.run(signal)
      },
    }),
    world: () => new ServiceWorld(file.services, folder),
    prepare: async (user) => {
      const variables = await user.world.variables()
      for (const object of file.objects) await user.put(substituted(trust?.trusted(object) ?? object, variables))
    },
    normalise: ignoring(file.ignore),
    leavesBehind: file.leavesBehind,
    adopts: file.adopts,
    keepsValues: file.keepsValues,
    inertFields: file.inertFields,
    sharedObjects: file.sharedObjects,
    expectedErrors: file.expectedErrors.map((pattern) => new RegExp(pattern)),
    ...(file.manualChanges.length > 0 && { monkeyEdits: file.manualChanges }),
    ...(examples.length > 0 && { exampleSpecs: examples }),
    walksStates: file.walkStates && examples.length > 0,
  }
}

function scenarioOf(file: ScenarioFile, signal: AbortSignal | undefined): Exploration<ServiceWorld>['scenario'] {
  const { patienceMs } = scenarioTimes(file)
  return {
    name: file.name,
    steps: file.steps.map(({ name, action, goal, rest }) => ({
      name,
      rest,
      ...(goal !== undefined && { goal }),
      act: async (user: User<ServiceWorld>) =>
        performAction(substituted(action, await user.world.variables()), user, { patienceMs, signal }),
    })),
  }
}

/** The first spec of what users declare: its parts are changed and removed one by one. */
function exampleSpecs({ crds, steps }: ScenarioFile): readonly PlainObject[] {
  const [crd] = crds
  const applied = steps.flatMap(({ action }) => (action.type === 'apply' ? action.objects : []))
  const found = applied.find(
    ({ kind, apiVersion }) => kind === crd?.spec.names.kind && apiVersion.startsWith(`${crd.spec.group}/`),
  )
  const { spec } = (found ?? {}) as { readonly spec?: PlainObject }
  return spec === undefined ? [] : [spec]
}
