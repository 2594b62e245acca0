/** The console of one operator in its own process: created and stopped with it. */
import { type Clock, systemClock } from '@reeve/http'
import type { KubeClient } from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import { MetricsGuard } from '@reeve/runtime/metrics'
import type { OperatorObserver } from '@reeve/runtime/operator'
import { ConsoleModel } from './model/console-model.ts'
import type { CountedRequest } from './model/request-counts.ts'
import { loadPage } from './page/page-files.ts'
import { ClusterAccess, LocalAccess } from './server/access.ts'
import { ConsoleServer } from './server/console-server.ts'
import { isLoopback } from './server/request-checks.ts'

/** Options of {@link openConsole}. */
export interface OpenConsoleOptions {
  /** @default '127.0.0.1' */
  readonly host?: string
  /** 0 takes a free one. @default 0 */
  readonly port?: number
  /**
   * Serves TLS, to accounts that may get the non-resource URL `/console`; the API server decides. Otherwise a random token
   * in the link protects it, which is possible on a loopback address only. @default whether the host is not loopback
   */
  readonly isProtected?: boolean
  /** Names by which it may be called, besides IP addresses and localhost, such as those of a Service. @default none */
  readonly names?: readonly string[]
  /** Additional secrets that must not be shown, such as the tokens of a vendor; global expressions. @default none */
  readonly secretPatterns?: readonly RegExp[]
  /** Called with what to open in a browser, once the server listens. */
  readonly onReady?: (link: string) => void
  readonly logger?: Logger
  readonly clock?: Clock
}

/** A console before its operator is created. */
export interface OperatorConsole {
  /** The observer to create the operator with: the server runs as long as the operator does. */
  readonly observer: OperatorObserver
  /** For `createClient`: counts requests. */
  readonly onRequest: (request: CountedRequest) => void
}

/**
 * Opens a console for one operator. The page is loaded; nothing listens yet.
 *
 * @example
 * const { observer, onRequest } = await openConsole({ onReady: (link) => console.log(link) })
 * const { manager } = webAppOperator.create({ client: createClient({ config, onRequest }), observer })
 */
export async function openConsole(options: OpenConsoleOptions = {}): Promise<OperatorConsole> {
  const { host = '127.0.0.1', isProtected = !isLoopback(host), secretPatterns = [], clock = systemClock } = options
  const { port = 0, names = [], logger, onReady } = options
  const page = await loadPage()
  const model = new ConsoleModel({ clock, secretPatterns })
  const own = model.observer()
  const guarded = (client: KubeClient) => {
    const guard = new MetricsGuard({ client, clock, ...(logger && { logger }) })
    return { access: new ClusterAccess(guard), certificate: () => guard.certificate() }
  }
  const observer: OperatorObserver = {
    describeWrite: own.describeWrite,
    reconciled: (record) => own.reconciled(record),
    recorded: (object, occurrence) => own.recorded(object, occurrence),
    created: (operator) => {
      own.created(operator)
      const access = isProtected ? guarded(operator.client) : { access: new LocalAccess() }
      const server = new ConsoleServer({ model, page, host, port, names, clock, ...access, ...(logger && { logger }) })
      // If it cannot listen, its run fails with the reason.
      server.link().then(onReady, () => undefined)
      return [server]
    },
  }
  return { observer, onRequest: model.requests.count }
}
