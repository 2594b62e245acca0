/** Starts a cluster: puts the parts together and gives them one life. */
import { Authenticator } from './auth/authenticate.ts'
import { alwaysAllow } from './auth/authorizer.ts'
import { systemUser } from './auth/user.ts'
import { ServiceAddresses } from './builtin/service-addresses.ts'
import { strategyOf } from './builtin/strategies.ts'
import { type Clock, systemClock } from './clock.ts'
import { FaultInjector } from './faults/fault-injector.ts'
import { RequestLog } from './faults/request-log.ts'
import { ApiServer } from './http/api-server.ts'
import type { ServerRequest, ServerResponse } from './http/exchange.ts'
import { Renderer } from './http/render.ts'
import { ResourceHandler } from './http/resource-handler.ts'
import { defaultPrinter } from './printing/table.ts'
import { loadBuiltinResources } from './registry/builtin-resources.ts'
import { ResourceRegistry } from './registry/resource-registry.ts'
import type { ClusterApi } from './rest/cluster-api.ts'
import { LocalApi } from './rest/local-api.ts'
import type { ServerContext } from './rest/server-context.ts'
import { WatchHub } from './rest/watch-hub.ts'
import { loadBuiltinSchemas } from './schema/definitions.ts'
import { Store } from './store/store.ts'

/** Options of {@link startEmbeddedCluster}. */
export interface EmbeddedClusterOptions {
  readonly clock?: Clock
  readonly random?: () => number
}

/** A running cluster. */
export interface EmbeddedCluster extends AsyncDisposable {
  handle(request: ServerRequest): Promise<ServerResponse>
  readonly api: ClusterApi
  readonly faults: FaultInjector
  readonly requests: RequestLog
  compact(): void
  stop(): Promise<void>
}

export async function startEmbeddedCluster(options: EmbeddedClusterOptions = {}): Promise<EmbeddedCluster> {
  const { clock = systemClock, random = Math.random } = options
  const registry = new ResourceRegistry()
  registry.addAll(loadBuiltinResources(loadBuiltinSchemas()))
  const store = new Store({ clock, window: { maxEvents: 10_000, maxAgeMs: 300_000 } })
  const hub = new WatchHub(store)
  const context: ServerContext = {
    registry,
    store,
    clock,
    random,
    admission: [],
    converter: { convert: async (objects, apiVersion) => objects.map((object) => ({ ...object, apiVersion })) },
    serviceAddresses: new ServiceAddresses(random),
    strategyOf,
    hub,
    maxBufferedEvents: 10_000,
    virtualCreates: new Map(),
    issueToken: undefined,
    podLogs: undefined,
  }
  const faults = new FaultInjector(hub)
  const requests = new RequestLog()
  const server = new ApiServer({
    context,
    resources: new ResourceHandler(context, new Renderer(context, defaultPrinter)),
    paths: { handle: async () => undefined },
    authenticator: new Authenticator(),
    authorizer: alwaysAllow,
    inProcessUser: systemUser,
    faults,
    requests,
  })
  const stop = async () => server.stop()
  return {
    handle: (request) => server.handle(request),
    api: new LocalApi(context),
    faults,
    requests,
    compact: () => store.compact(),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
