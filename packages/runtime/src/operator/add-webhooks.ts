/** The webhooks of an operator: router, server, and the certificate of the server. */
import type { KubeClient } from '@reeve/kube'
import { CertificateManager } from '../certificates/certificate-manager.ts'
import { FileCertificates } from '../certificates/file-certificates.ts'
import type { CaBundleTargets } from '../certificates/inject-ca-bundle.ts'
import type { ServerAddress } from '../manager/manager.ts'
import type { WebhookRoute } from '../webhooks/webhook-route.ts'
import { WebhookRouter } from '../webhooks/webhook-router.ts'
import { WebhookServer } from '../webhooks/webhook-server.ts'
import type { OperatorFrame } from './operator-frame.ts'

/** The address of the webhooks of an operator, and their certificate. */
export interface WebhookOptions {
  readonly address: ServerAddress
  /** Issued by the operator itself and kept in a Secret, or mounted as the files `tls.crt` and `tls.key`. */
  readonly certificate:
    | { readonly secret: { readonly namespace: string; readonly name: string }; readonly hosts: readonly string[] }
    | { readonly directory: string }
  /**
   * What has to trust the certificate that the operator issues. Written before the caches are filled.
   * @default the CRDs that the operator converts
   */
  readonly inject?: CaBundleTargets
  /**
   * How long to keep serving after the stop signal: in a cluster, endpoints are removed from a Service a moment after
   * their pod starts to terminate.
   * @default 0
   */
  readonly lameDuckMs?: number
}

/** The webhooks of an operator. */
export interface Webhooks {
  readonly server: WebhookServer
  /** What issues their certificate, unless it comes from files. */
  readonly certificates: CertificateManager | undefined
}

/**
 * Adds webhooks to an operator, which is not ready while it has no valid certificate.
 *
 * @param client not fenced: replicas that do not lead serve webhooks, too
 *
 * @example
 * const { server } = addWebhooks(frame, client, [validate], {
 *   address: { port: 9443 },
 *   certificate: { secret: { namespace, name: 'greeter-tls' }, hosts: serviceHosts({ namespace, name: 'greeter' }) },
 *   inject: { validating: ['greeter'] },
 * })
 */
export function addWebhooks(
  { manager, shared }: Pick<OperatorFrame, 'manager' | 'shared'>,
  client: KubeClient,
  routes: readonly WebhookRoute[],
  { address, certificate, inject = {}, lameDuckMs = 0 }: WebhookOptions,
): Webhooks {
  const certificates =
    'directory' in certificate
      ? new FileCertificates({ ...filesIn(certificate.directory), ...shared })
      : new CertificateManager(client, { ...certificate, inject, ...shared })
  const router = new WebhookRouter(routes, shared)
  const server = new WebhookServer(router, { ...address, ...shared, certificates, lameDuckMs })
  manager.add(certificates, server)
  if (!(certificates instanceof CertificateManager)) return { server, certificates: undefined }
  manager.readiness.add('certificates', () => certificates.checkHealth())
  return { server, certificates }
}

function filesIn(directory: string) {
  return { certificateFile: `${directory}/tls.crt`, privateKeyFile: `${directory}/tls.key` }
}
