/** Input of components for tests: a tenant that responded to everything. */
import type { Stored } from '@reeve/kube'
import type { DesiredObject } from '@reeve/runtime'
import { Waiting } from '@reeve/runtime/components'
import type { DynaKube, DynaKubeSpec, DynaKubeStatus } from '../../../api/latest.ts'
import { type DynaKubeParts, dynakube } from '../../../api/testing/build.ts'
import type { GatewayFacts } from '../components/active-gate/active-gate.ts'
import type { ActiveGateCertificate } from '../components/active-gate/certificate.ts'
import type { ActiveGateConnection } from '../components/connection/active-gate-connection.ts'
import type { OneAgentConnection } from '../components/connection/one-agent-connection.ts'
import type { ExecutorFacts } from '../components/extensions/database-executors.ts'
import type { ExtensionFacts } from '../components/extensions/extensions.ts'
import type { ProcessModules } from '../components/injection/process-modules.ts'
import type { KspmToken } from '../components/kspm/kspm.ts'
import type { CollectorFacts } from '../components/otel-collector/otel-collector.ts'
import type { TenantFacts } from '../components/tenant/tenant.ts'
import type { DynaKubeDependencies, OperatorFacts } from '../dependencies.ts'
import type { AnyDynaKubeComponent, DynaKubeInput, RenderInput } from '../dynakube-component.ts'

/** The facts of all components. Their members have different names. */
export type AllFacts = Omit<TenantFacts, 'client'> &
  ActiveGateConnection &
  OneAgentConnection &
  GatewayFacts &
  ActiveGateCertificate &
  ExtensionFacts &
  ExecutorFacts &
  KspmToken &
  ProcessModules &
  CollectorFacts

/** What a test may set besides the spec. */
export interface RenderParts extends DynaKubeParts {
  readonly operator?: Partial<OperatorFacts>
  readonly facts?: Partial<Record<keyof AllFacts, unknown>>
}

/** The status of a DynaKube whose tenant was called. */
export const KNOWN_STATUS: DynaKubeStatus = {
  kubeSystemUUID: 'cluster-uid',
  oneAgent: {
    imageID: 'tenant.live.example.com/linux/oneagent:1.321.57-raw',
    version: '1.321.57.20250812-101530',
    source: 'tenant-registry',
    connectionInfoStatus: {
      tenantUUID: 'abc12345',
      endpoints: 'https://tenant.live.example.com:443/communication',
      tenantTokenHash: '1333712845',
    },
    healthcheck: {
      Test: ['/usr/bin/watchdog-healthcheck64'],
      Interval: 10_000_000_000,
      Timeout: 30_000_000_000,
      StartPeriod: 1_200_000_000_000,
      Retries: 3,
    },
  },
  activeGate: {
    imageID: 'tenant.live.example.com/linux/activegate:1.283.100-raw',
    version: '1.283.100.20240205-143805',
    source: 'tenant-registry',
    connectionInfoStatus: {
      tenantUUID: 'abc12345',
      endpoints: 'https://tenant.live.example.com:443/communication',
      tenantTokenHash: '1333712845',
    },
    serviceIPs: ['10.96.0.7'],
  },
  kspm: { tokenSecretHash: '2844084240' },
}

const FACTS: AllFacts = {
  apiToken: 'api-token',
  dataIngestToken: 'ingest-token',
  oneAgentTenantToken: 'test-token',
  activeGateTenantToken: 'test-token',
  activeGateAuthToken: 'dt0g02.public.secret',
  activeGateKeyPair: { certificate: 'gateway certificate', privateKey: 'gateway key' },
  activeGateCertificate: 'gateway certificate',
  extensionTokens: { controller: 'EEC dt0x01.public.secret', datasource: 'dt0x01.public.secret' },
  extensionsKeyPair: { certificate: 'extensions certificate', privateKey: 'extensions key' },
  kspmToken: 'dt0n01.public.secret',
  databaseReplicas: {},
}

/** Input for components, and for the functions that render parts of objects. */
export type TestInput = DynaKubeInput<AllFacts> & RenderInput

/** Input with the given spec. */
export function renderInput(spec: Partial<DynaKubeSpec>, parts: RenderParts = {}): TestInput {
  const { status = KNOWN_STATUS } = parts
  const operator = {
    version: '1.8.1',
    image: 'registry.example.com/dynatrace-operator:1.8.1',
    hasCsiDriver: true,
    ...parts.operator,
  }
  const primary = { ...dynakube(spec, parts), status } as Stored<DynaKube> & { readonly status: DynaKubeStatus }
  const facts = { ...FACTS, ...parts.facts } as AllFacts
  return {
    primary,
    dynakube: primary,
    operator,
    facts,
    // Every component has the members that it reads.
    factsOf: <Facts>() => facts as Facts,
    // Rendering reads the operator only.
    dependencies: { operator } as DynaKubeDependencies,
  }
}

/** The input with other facts; `undefined` removes a fact. */
export function withFacts(input: TestInput, change: NonNullable<RenderParts['facts']>): TestInput {
  const facts = { ...input.facts, ...change } as AllFacts
  return { ...input, facts, factsOf: <Facts>() => facts as Facts }
}

/** What a component renders; nothing when it is disabled. *Errors*: when it waits. */
export function rendered(component: AnyDynaKubeComponent, input: TestInput): readonly DesiredObject[] {
  const { primary, dependencies } = input
  if (!(component.isEnabled?.(primary, dependencies) ?? true)) return []
  const objects = component.render?.(input) ?? []
  if (objects instanceof Waiting) throw new Error(`${component.name} is waiting for ${objects.what}`)
  return objects
}

/** The names of all objects that a component may own. */
export const ownedNames = (component: AnyDynaKubeComponent, { primary }: TestInput): readonly string[] =>
  (component.mayOwn?.(primary) ?? []).map(({ name = '' }) => name)
