/** The Dynatrace operator and the life of an EdgeConnect that it makes in the environment, for fault exploration. */
import { Namespaces, type ObjectKey, Secrets } from '@reeve/kube'
import type { Exploration, Step } from '@reeve/simulation'
import { DynaKubeCrd } from './api/dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from './api/edgeconnect/edgeconnect-crd.ts'
import { EdgeConnects } from './api/latest.ts'
import { CLIENT_KEYS } from './controllers/edgeconnect/provision.ts'
import { encodeSecret } from './controllers/secret-data.ts'
import { dynatraceUnderTest, NAMESPACE } from './exploration/dynatrace-under-test.ts'
import { EdgeConnectWorld } from './exploration/edge-connect-world.ts'
import { TENANT } from './exploration/environment-world.ts'
import { addServiceAccounts } from './exploration/service-accounts.ts'

type EdgeConnectStep = Step<EdgeConnectWorld>

const key: ObjectKey = { namespace: NAMESPACE, name: 'office' }
const login: ObjectKey = { namespace: NAMESPACE, name: 'login' }

/** The credentials of the user's client that was made last. */
function credentials({ tenant }: EdgeConnectWorld): Readonly<Record<string, string>> {
  const { id = '', secret = '' } = tenant.oauth.list().at(-1) ?? {}
  return encodeSecret({ [CLIENT_KEYS.id]: id, [CLIENT_KEYS.secret]: secret })
}

const edit = (spec: Readonly<Record<string, unknown>>) => ({ type: 'merge', patch: { spec } }) as const

const install: EdgeConnectStep = {
  name: 'install',
  async act({ client, world }) {
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
    await addServiceAccounts(client, NAMESPACE)
    const data = credentials(world)
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: login, data })
  },
}

const create: EdgeConnectStep = {
  name: 'create',
  act: ({ client, world: { environment } }) =>
    client.create(EdgeConnects, {
      apiVersion: 'dynatrace.com/v1alpha2',
      kind: 'EdgeConnect',
      metadata: key,
      spec: {
        apiServer: environment.authority,
        oauth: {
          provisioner: true,
          clientSecret: login.name,
          endpoint: environment.tokenUrl,
          resource: `urn:dtenvironment:${TENANT}`,
        },
        imageRef: { repository: 'registry.example.com/edgeconnect', tag: '1' },
        // A registry that is asked every quarter of an hour, and the note of it, would be no rest.
        autoUpdate: false,
        hostPatterns: ['*.internal.example.com'],
        kubernetesAutomation: { enabled: true },
      },
    }),
  rest: true,
}

const grow: EdgeConnectStep = {
  name: 'ask for more pods and hosts',
  act: ({ client }) => client.patch(EdgeConnects, key, edit({ replicas: 2, hostPatterns: ['*.internal', '*.intern'] })),
}

/** The user's client is gone from the environment, and a change cannot be carried out. */
const revoke: EdgeConnectStep = {
  name: 'revoke the client of the user, and ask for other hosts',
  async act(user) {
    const { oauth } = user.world.tenant
    // The tenant came with it; all others were made later.
    const [own] = oauth.list()
    oauth.remove(own?.id ?? '')
    await user.client.patch(EdgeConnects, key, edit({ hostPatterns: ['*.other.example.com'] }))
  },
  // The environment shows what is in it once.
  irreplaceable: [`secrets ${NAMESPACE}/${key.name}-client`],
}

const renew: EdgeConnectStep = {
  name: 'give the user another client',
  act({ client, world }) {
    world.tenant.oauth.add()
    return client.patch(Secrets, login, { type: 'merge', patch: { data: credentials(world) } })
  },
}

const remove: EdgeConnectStep = { name: 'delete', act: ({ client }) => client.delete(EdgeConnects, key) }

/**
 * An EdgeConnect that is made in the environment, edited, cut off, cured, deleted, made again and deleted.
 *
 * @example
 * npm run explore -- --operator dynatrace-edgeconnect --pattern T1,T2,T9
 */
export const exploration: Exploration<EdgeConnectWorld> = {
  operator: {
    ...dynatraceUnderTest,
    name: 'dynatrace-edgeconnect',
    crds: [EdgeConnectCrd, DynaKubeCrd],
    world: (place) => new EdgeConnectWorld(place, NAMESPACE),
    monkeyEdits: [
      { resource: 'deployments.apps', patch: { spec: { template: { spec: { terminationGracePeriodSeconds: 1 } } } } },
    ],
    foreignEdits: [
      { resource: 'edgeconnects.dynatrace.com', patch: { spec: { hostPatterns: ['*.passing.example.com'] } } },
    ],
  },
  scenario: {
    name: 'life of an EdgeConnect',
    steps: [
      install,
      create,
      grow,
      revoke,
      renew,
      remove,
      { ...create, name: 'create again', rest: false },
      { ...remove, name: 'delete again' },
    ],
  },
}
