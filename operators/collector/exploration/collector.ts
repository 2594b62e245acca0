/** The Collector operator and what its users do, described for fault exploration: Helm is the world outside. */
import type { ChartResolver } from '@reeve/helm'
import type { Clock } from '@reeve/http'
import { Namespaces, type ObjectKey, type ObjectMeta } from '@reeve/kube'
import type { Exploration, OutsideCall, PlainObject, Scenario, Step } from '@reeve/simulation'
import { type Collector, CollectorCrd, Collectors, type LastFailure } from '../src/api/collector.ts'
import { createCollectorOperator } from '../src/operator.ts'
import type { ReleaseCommands } from '../src/release/collector-context.ts'
import { CLUSTER, configured, declaredCollectors } from './declared-collectors.ts'
import { HelmWorld } from './helm-world.ts'
import { SAMPLE_CHART } from './sample-chart.ts'
import { SimulatedHelm, type SimulatedHelmOptions } from './simulated-helm.ts'

const logs: ObjectKey = { namespace: 'default', name: 'acme-logs' }
const configure = (values: PlainObject) => ({ collector: { configuration: configured(values) } })

/** How long a resolved chart is used: longer than any rest, so that no request is sent then. */
const FRESH_MS = 24 * 3_600_000

const CHECK_INTERVAL_MS = 5 * 60_000

const LEASE = { namespace: 'default', name: 'collector-operator' }

type HelmStep = Step<HelmWorld>

const patch = (name: string, spec: PlainObject, parts: Pick<HelmStep, 'rest' | 'goal'> = {}): HelmStep => ({
  name,
  act: ({ client }) => client.patch(Collectors, logs, { type: 'merge', patch: { spec } }),
  ...parts,
})

const create: HelmStep = {
  name: 'create',
  act: ({ client }) =>
    client.create(Collectors, {
      apiVersion: 'example.com/v1alpha',
      kind: 'Collector',
      metadata: logs,
      // What is left out has a default in the schema.
      spec: {
        collector: { name: 'log-collector', configuration: configured({ replicas: 1 }) },
        tenant: { id: '42', reference: 'ACME', instance: 'eu1' },
        cluster: CLUSTER,
        drift: 'Heal',
      } as Collector['spec'],
    }),
}

const changes: readonly HelmStep[] = [
  patch('change the configuration', configure({ replicas: 2, extra: true }), { rest: true }),
  patch('write a configuration that the chart rejects', configure({ replicas: 'many' }), { goal: 'unsettled' }),
  patch('correct it', configure({ replicas: 1 })),
  { name: 'delete the namespace manually', act: ({ client }) => client.delete(Namespaces, { name: 'acme' }) },
  patch('write a configuration that the cluster rejects', configure({ replicas: 1, broken: true }), {
    rest: true,
    goal: 'unsettled',
  }),
  patch(
    'correct it and move to another tenant',
    { ...configure({ replicas: 2 }), tenant: { reference: 'Globex' } },
    { rest: true },
  ),
]

const remove: HelmStep = { name: 'delete', act: ({ client }) => client.delete(Collectors, logs) }

/** Creation and deletion only, for quick tests. */
export const shortLife: Scenario<HelmWorld> = { name: 'short life of a Collector', steps: [create, remove] }

/** What may be exchanged in a description of the operator. */
export interface CollectorExplorationOptions extends Pick<SimulatedHelmOptions, 'outlivesOperator'> {
  /** Wraps Helm, to test that mistakes are caught. @default no wrapper */
  readonly wrap?: (helm: ReleaseCommands) => ReleaseCommands
  /** Divides the Collectors into this many shards. @default none: one instance works on all */
  readonly shards?: number
}

/**
 * A Collector from its creation to its deletion, with the changes and mistakes that users make meanwhile.
 *
 * @example
 * const { operator, scenario } = exploreCollectors({ outlivesOperator: true })
 * const report = await explore(operator, scenario, { patterns: ['crash-around-call'] })
 */
export function exploreCollectors(options: CollectorExplorationOptions = {}): Exploration<HelmWorld> {
  const { wrap = (helm: ReleaseCommands) => helm, outlivesOperator = false, shards } = options
  return {
    operator: {
      name: 'collector',
      crds: [CollectorCrd],
      hasElection: true,
      world: (place) => new HelmWorld(place),
      start({ leaderElection, call, world, ...place }, client) {
        const { manager, cache } = createCollectorOperator({
          client,
          helm: wrap(new SimulatedHelm(world, { call, outlivesOperator })),
          charts: chartsBehind(call, place.clock),
          adminNamespaces: [logs.namespace ?? ''],
          // A check is several reads, and more than one read a minute while idle counts as a loop.
          checkIntervalMs: CHECK_INTERVAL_MS,
          settings: { clusters: { [CLUSTER]: { type: 'directory', location: '/charts' } } },
          clock: place.clock,
          random: place.random,
          logger: place.logger,
          metrics: place.metrics,
          instance: place.identity,
          ...(shards === undefined
            ? leaderElection && { leaderElection }
            : { sharding: { lease: LEASE, shards, identity: place.identity, random: place.random } }),
        })
        return { run: (signal) => manager.run(signal), cacheHealth: () => cache.health() }
      },
      normalise: (resource, object) => {
        // Shared with others, and never deleted or changed: only its contents are compared.
        if (resource === 'namespaces') return undefined
        // Two good runs may have different histories: the world compares the newest revisions.
        if (resource === 'secrets' && (object.metadata as ObjectMeta | undefined)?.labels?.owner === 'helm')
          return undefined
        return resource === 'collectors.example.com' ? withoutWay(object) : object
      },
      ...declaredCollectors,
      // Other objects may use them, too.
      leavesBehind: ['namespaces *'],
      foreignEdits: [{ resource: 'collectors.example.com', patch: { spec: { suspend: true } } }],
    },
    scenario: { name: 'life of a Collector', steps: [create, ...changes, remove] },
  }
}

/** What `npm run explore` finds. */
export const exploration = exploreCollectors()

/** A source that may be unreachable; what it returned recently is used again, as the real resolver does. */
function chartsBehind(call: OutsideCall, clock: Clock): ChartResolver {
  let askedMs = Number.NEGATIVE_INFINITY
  return {
    resolve: async () => {
      if (clock.now() - askedMs < FRESH_MS) return SAMPLE_CHART
      const chart = await call('read the chart source', () => SAMPLE_CHART)
      askedMs = clock.now()
      return chart
    },
  }
}

/** Numbers of revisions and attempts differ between good runs. */
function withoutWay(object: PlainObject): PlainObject {
  const { status, ...rest } = object as { readonly status?: Collector['status'] }
  if (status === undefined) return object
  const { revision: _revision, lastFailure, rolledBack, conditions = [], ...lasting } = status
  return {
    ...rest,
    status: {
      ...lasting,
      ...(lastFailure && { lastFailure: withoutAttempts(lastFailure) }),
      ...(rolledBack && { rolledBack: withoutAttempts(rolledBack) }),
      conditions: conditions.map((condition) => ({ ...condition, message: withoutNumbers(condition.message ?? '') })),
    },
  }
}

function withoutAttempts({ attempts: _attempts, ...failure }: LastFailure): PlainObject {
  return failure
}

function withoutNumbers(message: string): string {
  return message.replace(/(revision|attempt) \d+/g, '$1 <number>')
}
