/** The server process of the admission benchmark. */
import { convertRoute, type DynaKube, IgnoredNamespacePatterns, parseModules, validationRoutes } from '@reeve/dynatrace'
import { serveTls } from './serve-tls.ts'

const NEIGHBOURS = 5
const NAMESPACES = 50

/** A cluster in memory: what look-ups cost is up to the API server. */
const lookups = {
  ignoredNamespaces: new IgnoredNamespacePatterns(),
  modules: parseModules(undefined),
  readSecret: async () => undefined,
  hasIstio: async () => true,
  listDynaKubes: async () => Array.from({ length: NEIGHBOURS }, (_, index) => neighbour(index)),
  listNamespaces: async () =>
    Array.from({ length: NAMESPACES }, (_, index) => ({ name: `team-${index}`, labels: { team: `${index}` } })),
}

function neighbour(index: number): DynaKube {
  const selector = { matchLabels: { team: `other-${index}` } }
  return {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace: 'dynatrace', name: `neighbour-${index}` },
    spec: {
      apiUrl: `https://neighbour${index}.live.dynatrace.com/api`,
      oneAgent: { applicationMonitoring: { namespaceSelector: selector } },
    },
  }
}

await serveTls(() => [...validationRoutes(() => lookups), convertRoute()])
