/** The Dynatrace operator and the life of an EdgeConnect that it makes in the tenant, for fault exploration. */
import { isDeepStrictEqual } from 'node:util'
import { Namespaces, type ObjectKey, Secrets } from '@reeve/kube'
import type { Exploration, OperatorUnderTest, Step, User } from '@reeve/simulation'
import { DynaKubeCrd } from '../src/api/dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from '../src/api/edgeconnect/edgeconnect-crd.ts'
import { type EdgeConnectSpec, EdgeConnects } from '../src/api/latest.ts'
import { CLIENT_KEYS } from '../src/controllers/edgeconnect/components/registration/provision.ts'
import { encodeSecret } from '../src/controllers/rendering/secret-data.ts'
import { TOKEN_PATH } from '../src/tenant/simulator/routes/sso.ts'
import { dynatraceUnderTest, NAMESPACE } from './dynatrace-under-test.ts'
import { EdgeConnectWorld } from './edge-connect-world.ts'
import { addServiceAccounts } from './service-accounts.ts'
import { AUTHORITY, TENANT } from './tenant-world.ts'

type EdgeConnectStep = Step<EdgeConnectWorld>

const key: ObjectKey = { namespace: NAMESPACE, name: 'office' }
const login: ObjectKey = { namespace: NAMESPACE, name: 'login' }

/** The credentials of the user's client that was made last. */
function credentials({ tenant }: EdgeConnectWorld): Readonly<Record<string, string>> {
  const { id = '', secret = '' } = tenant.oauth.list().at(-1) ?? {}
  return encodeSecret({ [CLIENT_KEYS.id]: id, [CLIENT_KEYS.secret]: secret })
}

const edit = (spec: Readonly<Record<string, unknown>>) => ({ type: 'merge', patch: { spec } }) as const

/** What users do before the first EdgeConnect. */
async function prepare({ client, world }: User<EdgeConnectWorld>): Promise<void> {
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  await addServiceAccounts(client, NAMESPACE)
  const data = credentials(world)
  await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: login, data })
}

/** The least that an EdgeConnect says here. */
const PLAIN: EdgeConnectSpec = {
  apiServer: AUTHORITY,
  oauth: {
    provisioner: true,
    clientSecret: login.name,
    endpoint: `https://${AUTHORITY}${TOKEN_PATH}`,
    resource: `urn:dtenvironment:${TENANT}`,
  },
  imageRef: { repository: 'registry.example.com/edgeconnect', tag: '1' },
  // A registry check every quarter of an hour, and its time in the status, would not be a rest.
  autoUpdate: false,
}

const create: EdgeConnectStep = {
  name: 'create',
  act: ({ client }) =>
    client.create(EdgeConnects, {
      apiVersion: 'dynatrace.com/v1alpha2',
      kind: 'EdgeConnect',
      metadata: key,
      spec: { ...PLAIN, hostPatterns: ['*.internal.example.com'], kubernetesAutomation: { enabled: true } },
    }),
  rest: true,
}

const change: EdgeConnectStep = {
  name: 'declare more pods, other hosts and no automation',
  act: ({ client }) =>
    client.patch(
      EdgeConnects,
      key,
      edit({ replicas: 2, hostPatterns: ['*.internal', '*.intern'], kubernetesAutomation: null }),
    ),
}

/** The user's client is deleted in the tenant, and a change cannot be applied. */
const revoke: EdgeConnectStep = {
  name: 'revoke the client of the user, and declare other hosts',
  async act(user) {
    const { oauth } = user.world.tenant
    // It exists from the start; all others were created later.
    const [own] = oauth.list()
    oauth.remove(own?.id ?? '')
    await user.client.patch(EdgeConnects, key, edit({ hostPatterns: ['*.other.example.com'] }))
  },
  goal: 'unsettled',
  expectedErrors: [/access token: HTTP status 401/],
  // The tenant shows what is in it once.
  irreplaceable: [`secrets ${NAMESPACE}/${key.name}-client`],
}

const renew: EdgeConnectStep = {
  name: 'give the user another client',
  act({ client, world }) {
    // The same in every run, however many clients were created before.
    world.tenant.oauth.add({ id: 'dt0s02.RENEWED', secret: 'dt0s02.RENEWED.AGAIN' })
    return client.patch(Secrets, login, { type: 'merge', patch: { data: credentials(world) } })
  },
}

const remove: EdgeConnectStep = { name: 'delete', act: ({ client }) => client.delete(EdgeConnects, key) }

/** Settings of `declared-states` for EdgeConnects. */
const walks: Pick<OperatorUnderTest, 'walkedNamespace' | 'walkedFields' | 'exampleSpecs' | 'complete' | 'accepts'> = {
  walkedNamespace: NAMESPACE,
  walkedFields: ['replicas', 'hostPatterns', 'hostRestrictions', 'kubernetesAutomation', 'labels', 'proxy.port'],
  exampleSpecs: [
    {
      ...PLAIN,
      replicas: 2,
      hostPatterns: ['*.internal', '*.intern'],
      hostRestrictions: ['internal.org', 'intern.org'],
      kubernetesAutomation: { enabled: true },
      labels: { team: 'a', tier: 'b' },
      annotations: { note: 'c' },
      env: [{ name: 'LEVEL', value: 'debug' }],
      resources: { requests: { cpu: '50m' }, limits: { memory: '256Mi' } },
      proxy: { host: 'proxy.internal', port: 3128, noProxy: 'internal.org' },
    },
  ],
  complete: (spec) => ({ ...spec, ...PLAIN }),
  // How to reach the tenant is not varied: without it nothing can be applied.
  accepts: (spec) => {
    const { apiServer, oauth, imageRef, autoUpdate } = spec as Partial<EdgeConnectSpec>
    const { pullPolicy, ...image } = imageRef ?? {}
    return isDeepStrictEqual({ apiServer, oauth, imageRef: image, autoUpdate }, PLAIN)
  },
}

/**
 * An EdgeConnect that is created in the tenant, edited, disconnected, reconnected, deleted, recreated and deleted.
 *
 * @example
 * npm run explore -- --operator dynatrace-edgeconnect --pattern crash-after-write,failed-request
 */
export const exploration: Exploration<EdgeConnectWorld> = {
  operator: {
    ...dynatraceUnderTest,
    name: 'dynatrace-edgeconnect',
    crds: [EdgeConnectCrd, DynaKubeCrd],
    world: (place) => new EdgeConnectWorld(place, NAMESPACE),
    prepare,
    ...walks,
    // The tenant shows the credentials of a client once: what is in its Secret is all that the operator knows.
    keepsValues: [`secrets ${NAMESPACE}/*-client`],
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
      create,
      change,
      revoke,
      renew,
      remove,
      { ...create, name: 'create again', rest: false },
      { ...remove, name: 'delete again' },
    ],
  },
}
