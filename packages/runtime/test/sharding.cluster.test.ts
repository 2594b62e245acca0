/** The server accepts all that replicas write for their shards, with the rights that `rbac` prints. */
import { sleep, systemClock } from '@reeve/http'
import { createClient, Leases, loadConfig, RoleBindings, Roles, ServiceAccounts, serviceAccount } from '@reeve/kube'
import { defineOperator } from '@reeve/runtime'
import { ShardElector } from '@reeve/runtime/sharding'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'

const times = { leaseDurationMs: 6_000, renewDeadlineMs: 4_000, retryPeriodMs: 200 }
const deadline = () => AbortSignal.timeout(60_000)

let world: TestCluster
beforeAll(async () => {
  world = await openTestCluster()
})
afterAll(() => world.close())

test('shards are taken, balanced, handed over and released by accounts with the rights of the operator', async () => {
  const { client, namespace, cluster } = world
  const name = 'sharded'
  const { roles } = defineOperator({ name, controllers: [] }).rbac({ namespace, isSharded: true })
  await client.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } })
  for (const role of roles) await client.create(Roles, role)
  await client.create(RoleBindings, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { namespace, name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', namespace, name }],
  })
  const config = await loadConfig({ kubeconfig: cluster.kubeconfigPath, env: {} })
  const limited = createClient({ config, impersonate: serviceAccount({ namespace, name }) })
  const lease = { namespace, name }
  const replica = (identity: string) => new ShardElector(limited, { ...times, lease, shards: 4, identity })
  const [first, second] = [replica('first'), replica('second')]
  const until = async (condition: () => boolean) => {
    const signal = deadline()
    while (!condition()) await sleep(50, { clock: systemClock, signal })
  }
  try {
    first.start()
    await until(() => first.held.length === 4)
    second.start()
    await until(() => first.held.length === 2 && second.held.length === 2)
    expect([...first.held, ...second.held].toSorted()).toEqual([0, 1, 2, 3])
    await first.stop(deadline())
    await until(() => second.held.length === 4)
    await second.stop(deadline())
    const { items } = await client.listAll(Leases, { namespace, labelSelector: 'reeve.dev/sharding=sharded' })
    expect(items.map(({ metadata, spec }) => [metadata.name, spec?.holderIdentity]).toSorted()).toEqual(
      [0, 1, 2, 3].map((shard) => [`sharded-shard-${shard}`, '']),
    )
  } finally {
    await Promise.all([first.stop(deadline()), second.stop(deadline())])
    await limited.close()
  }
}, 180_000)
