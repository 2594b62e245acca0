/** The Dynatrace operator for the exploration: in a closed world, with a simulated tenant. */
import { createRegistryClient } from '@reeve/oci'
import type { OperatorUnderTest } from '@reeve/simulation'
import { CRDS } from '../src/api/crd-manifests.ts'
import type { MakeCertificate } from '../src/controllers/generated/self-signed.ts'
import { createDynatraceOperator } from '../src/operator.ts'
import { createPlatformClient } from '../src/tenant/client/platform/platform-client.ts'
import { createTenantClient } from '../src/tenant/client/tenant-client.ts'
import { withoutChance } from './normalise.ts'
import { senderInto, TenantWorld } from './tenant-world.ts'

/** The namespace of the operator. */
export const NAMESPACE = 'dynatrace'

/** Generating a key takes a second of real time, and every key differs: gateways of the exploration share this one. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBgzCCASmgAwIBAgIUKeIrNJ2l+iDVAGOhK+W6++NlV74wCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLZXhwbG9yYXRpb24wIBcNMjYxMTE2MDIyMzUyWhgPMjEyNjEw
MjMwMjIzNTJaMBYxFDASBgNVBAMMC2V4cGxvcmF0aW9uMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEX+Z1uzRqfEI4jVmjgU+zFtbOKLIR86J/3LD492xKiSrzirqZ
vUDxO11yrg/FAUBPq7j55fanTEjXKx0geIHnJKNTMFEwHQYDVR0OBBYEFM1Pz+TD
43z3TbHqp7+P+bIEcw7MMB8GA1UdIwQYMBaAFM1Pz+TD43z3TbHqp7+P+bIEcw7M
MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAJvhjN9nXpZIoqUi
W7QC/EPJHNm1DHJUHE+e7QJ6b90sAiAIwaCpTVOSgQ9B188domhtAJ5j6u+tud4N
IUlFkAXQbg==
-----END CERTIFICATE-----
`

/** Makes no key. */
export const fixedCertificate: MakeCertificate = async () => ({ certificate: CERTIFICATE, privateKey: 'none' })

/** The operator; DynaKubes point to `world.tenant`. */
export const dynatraceUnderTest: OperatorUnderTest<TenantWorld> = {
  name: 'dynatrace',
  crds: CRDS,
  hasElection: true,
  world: (place) => new TenantWorld(place),
  start({ leaderElection, world, call, ...place }, client) {
    const { clock, random, logger, metrics } = place
    const outbound = { sender: senderInto(world, call), random, env: {} }
    const { manager, cache } = createDynatraceOperator({
      client,
      clock,
      random,
      logger,
      metrics,
      instance: place.identity,
      namespace: NAMESPACE,
      clusterId: '7f9c4d1e-0000-4000-8000-000000000001',
      operator: { version: '1.8.1', image: 'registry.example.com/dynatrace-operator:1.8.1', hasCsiDriver: true },
      // Nodes have a separate table, which is written whenever one is seen: that would not be a rest.
      detectsHostAvailability: false,
      issuesCertificates: false,
      connect: (options) => createTenantClient({ ...options, ...outbound }),
      openPlatform: (options) => createPlatformClient({ ...options, ...outbound }),
      openRegistry: (options) => createRegistryClient({ ...options, ...outbound }),
      // Secrets that are made up are the same in every run.
      randomBytes: (count) => new Uint8Array(count),
      selfSigned: fixedCertificate,
      // Agents are listed when they change, without a pause.
      instancesIntervalMs: 0,
      ...(leaderElection && { leaderElection }),
    })
    return { run: (signal) => manager.run(signal), cacheHealth: () => cache.health() }
  },
  normalise: withoutChance,
}
