/** The provisioner of the CSI driver on one node, and what happens to its DynaKubes, for fault exploration. */
import {
  isNotFound,
  Jobs,
  type KubeClient,
  Namespaces,
  type ObjectKey,
  PriorityClasses,
  ServiceAccounts,
} from '@reeve/kube'
import { createRegistryClient } from '@reeve/oci'
import type { Exploration, User } from '@reeve/simulation'
import { CRDS } from '../src/api/crd-manifests.ts'
import { type DynaKubeSpec, DynaKubes } from '../src/api/latest.ts'
import { DRIVER_OBJECTS } from '../src/csi/names.ts'
import { jobName } from '../src/csi/provisioner/download-job.ts'
import { removeLeftovers } from '../src/csi/provisioner/install/remove-leftovers.ts'
import { parseJobSettings } from '../src/csi/provisioner/job-settings.ts'
import { createProvisioner } from '../src/csi/provisioner/provisioner.ts'
import { provisionerMetrics } from '../src/csi/provisioner/provisioner-metrics.ts'
import { createTenantClient } from '../src/tenant/client/tenant-client.ts'
import { NAMESPACE } from './dynatrace-under-test.ts'
import { NODE, NodeWorld } from './node/node-world.ts'
import { AUTHORITY, senderInto, TENANT } from './tenant-world.ts'
import { addTokens } from './tokens.ts'

const dk: ObjectKey = { namespace: NAMESPACE, name: 'dk' }
const other: ObjectKey = { namespace: NAMESPACE, name: 'other' }
const PULLED_BY_NODE = 'feature.dynatrace.com/node-image-pull'
const CODE_MODULES = 'dynatrace/dynatrace-codemodules'
/** No pod starts with it. */
const MISSING_IMAGE = 'registry.example.com/does-not-exist:1'
const NODE_IMAGE = 'registry.example.com/codemodules:1'

const PLAIN: DynaKubeSpec = {
  apiUrl: `https://${AUTHORITY}/e/${TENANT}/api`,
  tokens: 'tokens',
  oneAgent: { cloudNativeFullStack: {} },
}

async function prepare({ client, world }: User<NodeWorld>): Promise<void> {
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  await client.create(PriorityClasses, {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'dynatrace-high-priority' },
    value: 1_000_000,
  })
  const account = { namespace: NAMESPACE, name: DRIVER_OBJECTS }
  await client.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account })
  await addTokens({ client, world })
}

async function create(client: KubeClient, key: ObjectKey): Promise<void> {
  await client.create(DynaKubes, { apiVersion: 'dynatrace.com/v1beta6', kind: 'DynaKube', metadata: key, spec: PLAIN })
}

/** What the operator decides. */
async function decide(client: KubeClient, key: ObjectKey, codeModules: Readonly<Record<string, string | null>>) {
  const patch = { status: { codeModules } }
  await client.patch(DynaKubes, key, { type: 'merge', patch }, { subresource: 'status' })
}

/** The user chooses an image, and the operator takes it. */
async function choose(client: KubeClient, image: string | null, isPulledByNode: boolean): Promise<void> {
  const patch = {
    metadata: { annotations: { [PULLED_BY_NODE]: isPulledByNode ? 'true' : null } },
    spec: { oneAgent: { cloudNativeFullStack: { codeModulesImage: image } } },
  }
  await client.patch(DynaKubes, dk, { type: 'merge', patch })
  await decide(client, dk, { imageID: image })
}

const versions = (world: NodeWorld) => world.tenant.versions.available()

/**
 * Agents by all three methods: versions that change while a pod uses one and while the tenant is down, an image, Jobs that
 * fail and succeed, DynaKubes that share an agent, are deleted and come back.
 *
 * @example
 * npm run explore -- --operator dynatrace-provisioner --pattern crash-around-call
 */
export const exploration: Exploration<NodeWorld> = {
  operator: {
    name: 'dynatrace-provisioner',
    crds: CRDS,
    walksStates: false,
    world: (place) => new NodeWorld(place),
    prepare,
    start({ clock, random, logger, metrics, identity, world, call }, client) {
      const files = world.seam(call, clock)
      const outbound = { sender: senderInto(world, call), random, env: {} }
      const { paths } = world
      const { manager, cache } = createProvisioner({
        client,
        clock,
        random,
        logger,
        registry: metrics,
        metrics: provisionerMetrics(metrics),
        instance: identity,
        namespace: NAMESPACE,
        nodeName: NODE,
        paths,
        hostDataRoot: '/var/lib/kubelet/plugins/csi.oneagent.dynatrace.com/data',
        jobs: parseJobSettings(undefined),
        hasCsiDriver: true,
        // After each reconcile: what is on disk follows from what is declared, whenever the process was started.
        cleanupPeriodMs: 1,
        readMounts: async () => world.readMounts(),
        connectTenant: (options) => createTenantClient({ ...options, ...outbound }),
        openRegistry: (options) => createRegistryClient({ ...options, ...outbound }),
      })
      return {
        run: (signal) =>
          files.run(async () => {
            await removeLeftovers(paths)
            await manager.run(signal)
          }),
        cacheHealth: () => cache.health(),
      }
    },
    // The provisioner writes no status: what it has done is on disk.
    goal: () => undefined,
  },
  scenario: {
    name: 'agents on a node',
    steps: [
      {
        name: 'install a version',
        act: async ({ client, world }) => {
          await create(client, dk)
          await decide(client, dk, { version: versions(world)[0] ?? '' })
        },
      },
      {
        name: 'change the version twice while a pod uses the first one',
        act: async ({ client, world }) => {
          world.mount('dk')
          await decide(client, dk, { version: versions(world)[1] ?? '' })
          await decide(client, dk, { version: versions(world)[2] ?? '' })
        },
      },
      {
        name: 'change the version while the tenant is down',
        act: async ({ client, world }) => {
          world.isTenantDown = true
          await decide(client, dk, { version: versions(world)[1] ?? '' })
        },
        goal: 'any',
        expectedErrors: [/connection refused/],
      },
      {
        name: 'the tenant is back',
        act: async ({ client, world }) => {
          world.isTenantDown = false
          // Ends the back-off: how long it lasts depends on the faults before.
          const patch = { metadata: { annotations: { retried: 'true' } } }
          await client.patch(DynaKubes, dk, { type: 'merge', patch })
        },
      },
      {
        name: 'use an image, beside another DynaKube with the version; the pod ends',
        act: async ({ client, world }) => {
          world.mounts.length = 0
          const { registry } = world.simulator
          await create(client, other)
          await decide(client, other, { version: versions(world)[2] ?? '' })
          await choose(client, registry.reference(CODE_MODULES, registry.tags(CODE_MODULES)?.at(-1) ?? ''), false)
        },
      },
      {
        name: 'let the node pull an image that does not exist',
        act: ({ client }) => choose(client, MISSING_IMAGE, true),
        goal: 'any',
        expectedErrors: [/failed to copy the agent/],
      },
      {
        name: 'let the node pull an image, and delete the other Job',
        act: async ({ client }) => {
          await choose(client, NODE_IMAGE, true)
          // Its deadline would end it as well. A fault may have done so already.
          const key = { namespace: NAMESPACE, name: jobName(MISSING_IMAGE, NODE) }
          await client.delete(Jobs, key).catch((error: unknown) => {
            if (!isNotFound(error)) throw error
          })
        },
      },
      {
        name: 'delete, and create again at once',
        act: async ({ client }) => {
          await client.delete(DynaKubes, dk)
          await create(client, dk)
          await choose(client, NODE_IMAGE, true)
        },
      },
      {
        name: 'delete',
        act: async ({ client }) => {
          await client.delete(DynaKubes, dk)
          await client.delete(DynaKubes, other)
        },
      },
    ],
  },
}
