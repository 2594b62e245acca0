/** The server process of the injection benchmark. */
import { IgnoredNamespacePatterns, injectRoute, labelNamespaceRoute } from '@reeve/dynatrace'
import { INJECTION, memoryClient } from './injection-world.ts'
import { serveTls } from './serve-tls.ts'

await serveTls(() => {
  const { client } = memoryClient()
  const { namespace } = INJECTION
  return [
    labelNamespaceRoute({ client, namespace, ignoredNamespaces: new IgnoredNamespacePatterns() }),
    injectRoute({ ...INJECTION, client }),
  ]
})
