/** The server process of the injection benchmark. */
import { IgnoredNamespacePatterns, injectRoute, labelNamespaceRoute } from '@reeve/dynatrace'
import { memoryClient, OPERATOR_NAMESPACE } from './injection-world.ts'
import { serveTls } from './serve-tls.ts'

await serveTls(() => {
  const { client } = memoryClient()
  const shared = { client, namespace: OPERATOR_NAMESPACE }
  return [
    labelNamespaceRoute({ ...shared, ignoredNamespaces: new IgnoredNamespacePatterns() }),
    injectRoute({
      ...shared,
      settings: {
        image: 'registry.example.com/operator:1',
        operatorVersion: '1',
        hasCsiDriver: true,
        isOpenShift: false,
      },
      isManagedByOlm: false,
      events: { record: () => undefined },
    }),
  ]
})
