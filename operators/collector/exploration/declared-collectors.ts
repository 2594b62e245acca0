/** Specs of Collectors for walks through declared states: the release must not depend on the states before. */
import { applyDefaults, objectSchema } from '@reeve/crd'
import type { OperatorUnderTest, PlainObject } from '@reeve/simulation'
import { type Collector, CollectorCrd, type CollectorSpec } from '../src/api/collector.ts'
import { validateCollector } from '../src/validate-collector.ts'

/** The only chart source of the explored operator. */
export const CLUSTER = 'development'

const RULES = { clusters: [CLUSTER], areChartOverridesAllowed: false, serviceAccounts: ['collector'] }
const SCHEMA = objectSchema(CollectorCrd, 'v1alpha')

/**
 * A configuration as a user writes it. JSON is YAML.
 *
 * @example
 * configured({ replicas: 2 })
 */
export function configured(values: PlainObject): string {
  return Buffer.from(JSON.stringify(values)).toString('base64')
}

const full = {
  collector: { name: 'log-collector', version: '1.0.0', configuration: configured({ replicas: 1, extra: true }) },
  tenant: { id: '42', reference: 'ACME', instance: 'eu1' },
  cluster: CLUSTER,
  suspend: false,
  rollback: { onFailure: false },
  drift: 'Heal',
}

const withConfiguration = (configuration: string) => ({ ...full, collector: { ...full.collector, configuration } })

/** Settings of `declared-states` for Collectors. */
export const declaredCollectors: Pick<
  OperatorUnderTest,
  'exampleSpecs' | 'errorSpecs' | 'inertFields' | 'complete' | 'accepts'
> = {
  exampleSpecs: [full],
  errorSpecs: [
    withConfiguration('no base64'),
    withConfiguration(configured({ replicas: 'many' })),
    withConfiguration(configured({ replicas: 1, broken: true })),
    { ...full, cluster: 'elsewhere' },
  ],
  // Policies show when something fails. There is but one version of the chart. The id is a label of a new namespace.
  inertFields: ['spec.rollback', 'spec.drift', 'spec.suspend', 'spec.collector.version', 'spec.tenant.id'],
  complete: (generated) => {
    // Generated from the schema of the type, with what has a default left out at times.
    const { serviceAccountName: _notAllowed, ...spec } = generated as CollectorSpec
    const { collector, tenant } = spec as CollectorSpec & { collector: Partial<CollectorSpec['collector']> }
    const replicas = (collector.configuration ?? '').length % 3
    const { configurationFrom: _nowhere, chart: _noOverride, ...rest } = collector
    return {
      ...spec,
      collector: {
        ...rest,
        name: `collector-${collector.name.length}`,
        version: '',
        configuration: configured({ replicas }),
      },
      tenant: { ...tenant, reference: `Tenant-${tenant.reference.length}` },
      cluster: CLUSTER,
      // The state of a suspended release depends on its history, by design.
      suspend: false,
    }
  },
  accepts: (spec) => {
    // The schema fills in every field that the type requires.
    const collector = applyDefaults(SCHEMA, {
      apiVersion: 'example.com/v1alpha',
      kind: 'Collector',
      metadata: { name: 'walked', namespace: 'default' },
      spec,
    }) as Collector
    return validateCollector(collector, RULES).length === 0 && !collector.spec.suspend && isAtHand(collector.spec)
  },
}

/** Neither values from a Secret nor another version of the chart exist; and no name of a Service starts with a digit. */
function isAtHand({ collector }: CollectorSpec): boolean {
  const { name, version, configurationFrom } = collector
  return configurationFrom === undefined && ['', '1.0.0'].includes(version) && /^[a-z]/.test(name)
}
