/** How do I find the resources that refer to an object, without going through all of them? With an index. */
import { strictEqual } from 'node:assert'
import { crdManifest, defineCrd, type ObjectOf } from '@reeve/crd'
import { ConfigMaps } from '@reeve/kube'
import { type Component, defineOperator, waiting, watch } from '@reeve/runtime'
import { runInMemory } from '@reeve/testing'
import { Type } from 'typebox'

const v1 = {
  spec: Type.Object({ settings: Type.String({ description: 'Name of a ConfigMap.' }) }),
  status: Type.Object({ colour: Type.Optional(Type.String()) }),
}
const PageCrd = defineCrd({
  group: 'example.com',
  kind: 'Page',
  plural: 'pages',
  scope: 'Namespaced',
  versions: { v1 },
})
const Pages = PageCrd.resource('v1')

const colour: Component<ObjectOf<typeof v1>, string> = {
  name: 'colour',
  async resolve({ primary: { metadata, spec }, cache }) {
    const key = { namespace: metadata.namespace ?? '', name: spec.settings }
    return cache.get(ConfigMaps, key)?.data?.colour ?? waiting(`the colour in ConfigMap ${spec.settings}`)
  },
  render: () => [],
  report: ({ facts }, reporter) => reporter.update({ colour: facts }),
}

const operator = defineOperator({
  name: 'pages',
  crds: [crdManifest(PageCrd)],
  controllers: [
    {
      for: {
        resource: Pages,
        indexers: { settings: ({ metadata, spec }) => [`${metadata.namespace}/${spec.settings}`] },
      },
      watches: [
        watch({
          resource: ConfigMaps,
          labelSelector: 'example.com/page-settings',
          // The pages that use this ConfigMap: a look-up, however many pages there are.
          map: ({ metadata: { namespace = '', name } }, cache) =>
            cache
              .byIndex(Pages, 'settings', `${namespace}/${name}`)
              .map((page) => ({ namespace, name: page.metadata.name })),
        }),
      ],
      components: [colour],
    },
  ],
})

await using world = await runInMemory(operator)
await world.apply(Pages, { metadata: { name: 'home' }, spec: { settings: 'theme' } })
await world.settle()
const labels = { 'example.com/page-settings': '' }
await world.apply(ConfigMaps, { metadata: { name: 'theme', labels }, data: { colour: 'green' } })
await world.settle()
strictEqual((await world.get(Pages, 'home')).status?.colour, 'green')
