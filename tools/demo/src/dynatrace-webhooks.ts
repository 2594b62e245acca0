/** The webhooks of the Dynatrace operator in the demo: in this process, and registered by the address of this machine. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createWebhookServer,
  mutatingConfiguration,
  parseModules,
  validatingConfiguration,
  WEBHOOK_NAME,
} from '@reeve/dynatrace'
import { MutatingWebhookConfigurations, ValidatingWebhookConfigurations, type WebhookClientConfig } from '@reeve/kube'
import { issueAuthority, issueServing } from '@reeve/runtime/certificates'
import { FIELD_MANAGER } from './apply-crd.ts'
import type { OperatorChart } from './chart-objects.ts'
import { connectAsOperator } from './operator-account.ts'
import type { SceneStage } from './scene.ts'

const HOST = '127.0.0.1'
const VALIDITY_MS = 7 * 24 * 3_600_000

/** Webhooks that serve. Disposing stops them. */
export interface RunningWebhooks extends AsyncDisposable {
  /** How the API server reaches a path. */
  readonly clientConfigFor: (path: string) => WebhookClientConfig
  /** Rejects when they fail; resolves when they have stopped. */
  readonly end: Promise<void>
  /** Makes the API server call them. Until then DynaKubes need not exist. */
  register(signal: AbortSignal): Promise<void>
}

/**
 * Serves the webhooks, with the rights that the chart gives to their account.
 *
 * @example
 * await using webhooks = await startWebhooks(stage, { chart, image }, signal)
 * await webhooks.register(signal)
 */
export async function startWebhooks(
  stage: SceneStage,
  { chart, image }: { readonly chart: OperatorChart; readonly image: string },
  signal: AbortSignal,
): Promise<RunningWebhooks> {
  await using started = new AsyncDisposableStack()
  const client = await connectAsOperator(stage, { ...chart, account: WEBHOOK_NAME }, signal)
  started.defer(() => client.close())
  const directory = await mkdtemp(join(tmpdir(), 'reeve-demo-'))
  started.defer(() => rm(directory, { recursive: true, force: true }))
  const validity = { nowMs: Date.now(), validityMs: VALIDITY_MS }
  const authority = await issueAuthority('reeve demo', validity)
  const { certificate, privateKey } = await issueServing(authority, [HOST], validity)
  await writeFile(join(directory, 'tls.crt'), certificate)
  await writeFile(join(directory, 'tls.key'), privateKey, { mode: 0o600 })
  const { manager, server } = createWebhookServer({
    client,
    namespace: chart.namespace,
    // All of them are installed.
    modules: parseModules(undefined),
    injection: { image, isOpenShift: false, isManagedByOlm: false },
    address: { host: HOST, port: 0 },
    certificates: { areProvided: true, files: { directory, certificate: 'tls.crt', privateKey: 'tls.key' } },
    logger: stage.logger,
  })
  const stop = new AbortController()
  const end = manager.run(stop.signal)
  started.defer(async () => {
    stop.abort()
    // A failure is reported to the awaiter of the end.
    await end.catch(() => undefined)
  })
  const { port } = await server.address()
  const caBundle = Buffer.from(authority.certificate).toString('base64')
  const clientConfigFor = (path: string) => ({ url: `https://${HOST}:${port}${path}`, caBundle })
  const kept = started.move()
  return {
    clientConfigFor,
    end,
    async register(until) {
      const options = { fieldManager: FIELD_MANAGER, force: true, signal: until }
      const { webhooks = [], ...validating } = validatingConfiguration(clientConfigFor)
      // An EdgeConnect may only name hosts of the vendor, and that of the demo names the simulated tenant.
      const ofDynaKubes = webhooks.filter(({ name }) => !name.includes('edgeconnect'))
      await stage.client.apply(ValidatingWebhookConfigurations, { ...validating, webhooks: ofDynaKubes }, options)
      await stage.client.apply(MutatingWebhookConfigurations, mutatingConfiguration(clientConfigFor), options)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
