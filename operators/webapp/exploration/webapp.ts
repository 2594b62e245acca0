/** The WebApp operator and what its users do, described for fault exploration. */
import { Deployments, type ObjectKey } from '@reeve/kube'
import type { Exploration } from '@reeve/simulation'
import { type WebApp, WebAppCrd, WebApps } from '../src/api/webapp.ts'
import { imageVersion } from '../src/image-version.ts'
import { createWebAppOperator } from '../src/operator.ts'

const shop: ObjectKey = { namespace: 'default', name: 'shop' }

const edit = (spec: Readonly<Record<string, unknown>>) => ({ type: 'merge', patch: { spec } }) as const

/**
 * A WebApp from its creation to its deletion, with the changes that users make meanwhile.
 *
 * @example
 * const report = await explore(exploration.operator, exploration.scenario, { patterns: ['crash-after-write'] })
 */
export const exploration: Exploration = {
  operator: {
    name: 'webapp',
    crds: [WebAppCrd],
    hasElection: true,
    start({ leaderElection, ...place }, client) {
      const { manager, cache } = createWebAppOperator({
        client,
        clock: place.clock,
        random: place.random,
        logger: place.logger,
        metrics: place.metrics,
        instance: place.identity,
        ...(leaderElection && { leaderElection }),
      })
      return { run: (signal) => manager.run(signal), cacheHealth: () => cache.health() }
    },
    monkeyEdits: [
      { resource: 'deployments.apps', patch: { spec: { replicas: 7 } } },
      { resource: 'services', patch: { spec: { selector: { stolen: 'yes' } } } },
    ],
    foreignEdits: [
      { resource: 'webapps.example.com', patch: { spec: { replicas: 4 } } },
      { resource: 'deployments.apps', patch: { spec: { revisionHistoryLimit: 3 } } },
      { resource: 'services', patch: { spec: { sessionAffinity: 'ClientIP' } } },
      { resource: 'ingresses.networking.k8s.io', patch: { spec: { ingressClassName: 'internal' } } },
    ],
    // Without a tag the version is unknown: the WebApp is degraded until there is one.
    errorSpecs: [{ image: 'nginx' }],
    // No cluster accepts resources and sources of variables that are made up; the example has real ones.
    complete: ({ resources: _, env: __, ...spec }) => ({ ...spec, image: `nginx:${spec.image}` }),
    accepts: ({ image }) => imageVersion(String(image))?.tag !== undefined,
    exampleSpecs: [
      {
        image: 'nginx:1.29',
        replicas: 2,
        port: 8081,
        env: [
          { name: 'COLOUR', value: 'green' },
          { name: 'SIZE', value: 'large' },
        ],
        // Different resources, so that no change makes a limit smaller than its request.
        resources: { requests: { cpu: '100m' }, limits: { memory: '128Mi' } },
        healthCheckPath: '/healthz',
        imagePullSecrets: [{ name: 'registry' }],
        service: { type: 'NodePort', port: 81 },
        ingress: { host: 'shop.example.com', className: 'public', tlsSecretName: 'shop-tls' },
      },
    ],
  },
  scenario: {
    name: 'life of a WebApp',
    steps: [
      {
        name: 'create',
        act: ({ client }) =>
          client.create(WebApps, {
            apiVersion: 'example.com/v1',
            kind: 'WebApp',
            metadata: shop,
            // What is left out has a default in the schema.
            spec: { image: 'nginx:1.29', ingress: { host: 'shop.example.com' } } as WebApp['spec'],
          }),
      },
      { name: 'change the image', act: ({ client }) => client.patch(WebApps, shop, edit({ image: 'nginx:1.30' })) },
      { name: 'scale up', act: ({ client }) => client.patch(WebApps, shop, edit({ replicas: 2 })) },
      {
        name: 'scale down and remove the host name',
        act: ({ client }) => client.patch(WebApps, shop, edit({ replicas: 1, ingress: null })),
      },
      { name: 'delete the Deployment manually', act: ({ client }) => client.delete(Deployments, shop), rest: true },
      { name: 'delete', act: ({ client }) => client.delete(WebApps, shop) },
    ],
  },
}
