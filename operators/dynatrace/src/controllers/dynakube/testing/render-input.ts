/** Input of components for tests: a tenant that answered everything. */
import type { DynaKubeSpec, DynaKubeStatus } from '../../../api/latest.ts'
import { type DynaKubeParts, dynakube } from '../../../api/testing/build.ts'
import type { Material, OperatorFacts, RenderInput } from '../render-input.ts'

/** What a test may say besides the spec. */
export interface RenderParts extends DynaKubeParts {
  readonly operator?: Partial<OperatorFacts>
  readonly material?: Material
}

/** The status of a DynaKube whose tenant was asked. */
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

const MATERIAL: Material = {
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
}

/** Input with the given spec. */
export function renderInput(spec: Partial<DynaKubeSpec>, parts: RenderParts = {}): RenderInput {
  const { status = KNOWN_STATUS, operator, material } = parts
  return {
    dynakube: { ...dynakube(spec, parts), status },
    operator: {
      version: '1.8.1',
      image: 'registry.example.com/dynatrace-operator:1.8.1',
      hasCsiDriver: true,
      ...operator,
    },
    material: { ...MATERIAL, ...material },
  }
}
