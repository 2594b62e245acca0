/** Small objects for tests. */
import type { DynaKube, DynaKubeSpec, DynaKubeStatus, EdgeConnect, EdgeConnectSpec } from '../latest.ts'

/** What a test may say about a DynaKube besides its spec. */
export interface DynaKubeParts {
  readonly name?: string
  readonly flags?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly status?: DynaKubeStatus
}

/** A DynaKube `dk` in the namespace `dynatrace`. */
export function dynakube(spec: Partial<DynaKubeSpec> = {}, parts: DynaKubeParts = {}): DynaKube {
  const { name = 'dk', flags = {}, annotations = {}, status } = parts
  const flagged = Object.entries(flags).map(([flag, value]) => [`feature.dynatrace.com/${flag}`, value])
  return {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace: 'dynatrace', name, annotations: { ...annotations, ...Object.fromEntries(flagged) } },
    spec: { apiUrl: 'https://tenant.live.example.com/api', ...spec },
    ...(status && { status }),
  }
}

/** An EdgeConnect `ec` in the namespace `dynatrace`. */
export function edgeConnect(spec: Partial<EdgeConnectSpec> = {}, status?: EdgeConnect['status']): EdgeConnect {
  return {
    apiVersion: 'dynatrace.com/v1alpha2',
    kind: 'EdgeConnect',
    metadata: { namespace: 'dynatrace', name: 'ec' },
    spec: {
      apiServer: 'tenant.apps.dynatrace.com',
      oauth: { clientSecret: 'client', endpoint: 'https://sso.example.com/token', resource: 'urn:example' },
      ...spec,
    },
    ...(status && { status }),
  }
}
